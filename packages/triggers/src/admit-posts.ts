import type { Catalog, Webhook, WebhookSecret } from "@svc/catalog";
import type { Clock, ProjectId } from "@svc/core";
import type { InboundPost, IngestOutcome } from "./outcome.ts";
import { type PrivateWebhook, type PrivateWebhooks, type WebhookToolkit, webhookToolkit } from "./private-webhooks.ts";
import { faultOfPrivateWebhook, faultOfWebhook, isSecretSet, secretsOf } from "./verify.ts";

/** A webhook post without its body. */
export type PostHead = Omit<InboundPost, "body">;

/** A webhook post to a private toolkit (an app that one project defined for itself) without its body. */
export type PrivatePostHead = PostHead & { readonly projectId: ProjectId };

/**
 * Result of a request with a method other than POST. Apps send such a request to verify that a webhook address belongs to their customer.
 */
export type Greeting = IngestOutcome | NoHandshake;

/**
 * Result of the check before the body is read. It is the final answer if the app's toolkit takes no webhook posts, is not ready, or the
 * token is wrong. Otherwise it is the permission to read the body.
 */
export type PostAdmission = IngestOutcome | AdmittedPost;

/**
 * The request asks for a handshake (a check of the address by the app) that the definition of the app's toolkit does not have. `methods`:
 * HTTP methods that the webhook path accepts.
 */
export type NoHandshake = { readonly outcome: "no_handshake"; readonly methods: readonly string[] };

/** A webhook post that passed all checks that are possible before its body is read. */
export type AdmittedPost = {
  readonly outcome: "admitted";
  readonly toolkit: WebhookToolkit;
  readonly secrets: readonly WebhookSecret[];
  /** True if the headers or the query have already proved who sent the webhook post. Then the signature of the body is not checked. */
  readonly isVerified: boolean;
};

/** Checks webhook posts before their bodies are read, and answers requests with methods other than POST. */
export type PostAdmitter = {
  /**
   * Checks a webhook post to a shared toolkit (an app of all projects) before its body is read. Returns the final answer if the body is not
   * needed for it. Otherwise returns the admission, the permission to read the body.
   */
  admit(toolkitSlug: string, query: URLSearchParams, headers?: InboundPost["headers"]): PostAdmission;
  /**
   * Checks a webhook post to a private toolkit (an app that one project defined) before its body is read. Returns the final answer, or the
   * permission to read the body. Returns a promise if the project exists; it rejects if the database fails.
   */
  admitPrivate(post: PrivatePostHead): PostAdmission | Promise<PostAdmission>;
  /**
   * Returns the answer to a request with a method other than POST. The answer is `no_handshake` if no handshake (check of the webhook URL
   * by the app) matches.
   */
  greet(method: string, request: PostHead): Greeting;
  /**
   * Returns the answer to a request for a private toolkit (defined by one project) with a method other than POST. The answer is
   * `no_handshake` if no handshake (check of the webhook URL by the app) matches. Returns a promise if the project exists; it rejects if
   * the database fails.
   */
  greetPrivate(method: string, request: PrivatePostHead): Greeting | Promise<Greeting>;
};

/** Dependencies of the checks before the body of a post is read. */
type AdmissionOptions = {
  readonly catalog: Catalog;
  readonly privateWebhooks: PrivateWebhooks;
  readonly clock: Clock;
  /** Returns the current value of an environment variable of the deployment, for example one that contains the secret of a webhook. */
  secretOf(name: string): string | undefined;
};

/**
 * Creates the checks of a webhook post before its body is read. `isKnown`: true if the toolkit and the secrets of an admitted post have not
 * changed since.
 */
export function createAdmission(
  options: AdmissionOptions,
): PostAdmitter & { isKnown(admitted: AdmittedPost): boolean } {
  const { catalog, clock, privateWebhooks } = options;
  const secretsNow = createSecrets(options.secretOf);
  const ready = (toolkit: WebhookToolkit): IngestOutcome | readonly WebhookSecret[] => {
    const { webhook } = toolkit;
    const secrets = secretsNow(webhook);
    if (secrets.length > 0 && !webhook.needsUrl) return secrets;
    const fault = faultOfWebhook(webhook, options.secretOf);
    if (fault === undefined) return secrets;
    return isSecretSet(webhook, options.secretOf)
      ? { outcome: "not_ready", fault }
      : { outcome: "secret_unset", secretEnv: webhook.secretEnv };
  };
  const readyPrivate = (found: PrivateWebhook): IngestOutcome | readonly WebhookSecret[] => {
    const fault = faultOfPrivateWebhook(found, options.secretOf);
    if (fault === undefined) return found.secrets;
    return found.isSecretSet ? { outcome: "not_ready", fault } : { outcome: "secret_unset", secretEnv: "" };
  };
  const admitTo = (
    toolkit: WebhookToolkit,
    secrets: IngestOutcome | readonly WebhookSecret[],
    post: Pick<PostHead, "headers" | "query">,
  ): PostAdmission => {
    if ("outcome" in secrets) return secrets;
    const isRight = toolkit.webhook.isHeadVerified(post, secrets);
    if (isRight === false && !toolkit.webhook.hasUnsignedHandshakes) {
      const why = () => toolkit.webhook.whyUnverified({ ...post, body: noBytes }, secrets, { nowMs: clock.now() });
      return { outcome: "unverified", why };
    }
    return { outcome: "admitted", toolkit, secrets, isVerified: isRight === true };
  };
  const admit: PostAdmitter["admit"] = (toolkitSlug, query, headers = {}) => {
    const toolkit = webhookToolkit(catalog, toolkitSlug);
    return toolkit === undefined ? unknownToolkit : admitTo(toolkit, ready(toolkit), { headers, query });
  };
  const admitPrivate: PostAdmitter["admitPrivate"] = (post) => {
    const finding = privateWebhooks.find(post.projectId, post.toolkitSlug);
    if (finding === undefined) return unknownToolkit;
    return finding.then((found) =>
      found === undefined ? unknownToolkit : admitTo(found.toolkit, readyPrivate(found), post),
    );
  };
  const greetAs = (
    toolkit: WebhookToolkit,
    secrets: IngestOutcome | readonly WebhookSecret[],
    { method, headers, query }: Pick<PostHead, "headers" | "query"> & { readonly method: string },
  ): Greeting => {
    const { methods } = toolkit.webhook;
    if (!methods.includes(method)) return { outcome: "no_handshake", methods };
    if ("outcome" in secrets) return secrets;
    const answer = toolkit.webhook.handshake({ method, headers, query, body: undefined }, secrets, false);
    if (answer === undefined) return { outcome: "no_handshake", methods };
    return answer === "refused" ? { outcome: "unverified" } : { outcome: "challenge", answer };
  };
  return {
    admit,
    admitPrivate,
    greet(method, post) {
      const toolkit = webhookToolkit(catalog, post.toolkitSlug);
      return toolkit === undefined ? notGreeted : greetAs(toolkit, ready(toolkit), { ...post, method });
    },
    greetPrivate(method, post) {
      const finding = privateWebhooks.find(post.projectId, post.toolkitSlug);
      if (finding === undefined) return notGreeted;
      return finding.then((found) =>
        found === undefined ? notGreeted : greetAs(found.toolkit, readyPrivate(found), { ...post, method }),
      );
    },
    // A private toolkit or its secrets may have changed on another node while the body arrived, so it is looked up again.
    isKnown: ({ toolkit, secrets }) =>
      catalog.toolkits.get(toolkit.slug) === toolkit && secretsNow(toolkit.webhook) === secrets,
  };
}

const noBytes = Buffer.alloc(0);
const unknownToolkit: IngestOutcome = { outcome: "unknown_toolkit" };
const notGreeted: NoHandshake = { outcome: "no_handshake", methods: ["POST"] };

/**
 * Returns a function that returns the secrets by which a webhook's posts are verified. They come from an environment variable. As long as
 * its value does not change, the function returns the same list object.
 */
function createSecrets(read: (variable: string) => string | undefined): (webhook: Webhook) => readonly WebhookSecret[] {
  const known = new WeakMap<
    Webhook,
    { readonly value: string | undefined; readonly secrets: readonly WebhookSecret[] }
  >();
  return (webhook) => {
    const value = read(webhook.secretEnv);
    const last = known.get(webhook);
    if (last !== undefined && last.value === value) return last.secrets;
    const secrets = secretsOf(webhook, value);
    known.set(webhook, { value, secrets });
    return secrets;
  };
}
