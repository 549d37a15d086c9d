import type { Webhook, WebhookSecret } from "@svc/catalog";
import { generateKeyBytes } from "@svc/core";
import type { PrivateWebhook } from "./private-webhooks.ts";

/** Returns the current value of an environment variable of the deployment. Undefined if the variable is not set. */
type ReadVariable = (name: string) => string | undefined;

/**
 * Returns the webhook secrets in `value`, the text of an environment variable. White space separates the secrets, and each of them verifies
 * posts. A text that is not a secret is left out.
 */
export function secretsOf(webhook: Webhook, value: string | undefined): readonly WebhookSecret[] {
  const read = wordsOf(value).map((text) => webhook.secretOf(text));
  // With basic authentication, a text that is no secret is probably the end of a password with a blank. So nothing is returned.
  return "basic" in webhook.parameters && read.includes(undefined) ? [] : read.flatMap((secret) => secret ?? []);
}

const wordsOf = (value: string | undefined) => value?.split(/\s+/).filter((text) => text !== "") ?? [];

/** True if the environment variable for a webhook's secret is set and contains more than white space. */
export function isSecretSet({ secretEnv }: Webhook, variable: ReadVariable): boolean {
  return wordsOf(variable(secretEnv)).length > 0;
}

/** Returns SVC_PUBLIC_URL without slashes at its end. Undefined if it is not set. */
export function publicUrlOf(variable: ReadVariable): string | undefined {
  return variable("SVC_PUBLIC_URL")?.trim().replace(/\/+$/, "") || undefined;
}

/**
 * Returns the reason why a webhook takes no posts, as a sentence for the operator without its full stop. Returns undefined if it takes
 * posts.
 */
export function faultOfWebhook(webhook: Webhook, variable: ReadVariable): string | undefined {
  const { secretEnv } = webhook;
  if (!isSecretSet(webhook, variable)) return `the variable ${secretEnv} holds no secret`;
  const isReadable = secretsOf(webhook, variable(secretEnv)).length > 0;
  return isReadable
    ? faultOfUrl(webhook, variable)
    : `the variable ${secretEnv} holds no secret that the definition can read: ${secretForm(webhook)}`;
}

/**
 * Returns the reason why the webhook of a private toolkit (an app defined by one project) cannot verify webhook posts, or undefined if it
 * can.
 */
export function faultOfPrivateWebhook(
  { toolkit: { webhook }, secrets, isSecretSet: isSet }: PrivateWebhook,
  variable: ReadVariable,
): string | undefined {
  if (!isSet) return "the webhook has no secret";
  return secrets.length > 0
    ? faultOfUrl(webhook, variable)
    : `the webhook has no secret that the definition can read: ${secretForm(webhook)}`;
}

function faultOfUrl({ needsUrl }: Webhook, variable: ReadVariable): string | undefined {
  return needsUrl && publicUrlOf(variable) === undefined
    ? "SVC_PUBLIC_URL is not set, and the app signs the public address"
    : undefined;
}

/** Returns how the secrets of a webhook are written, such as `base64 after whsec_`. */
export function secretForm({ parameters }: Webhook): string {
  const { encoding, prefix } = secretParameters(parameters);
  const text = "basic" in parameters ? "user:password without blanks" : "a text";
  return `${encoding === "utf8" ? text : encoding}${prefix === "" ? "" : ` after ${prefix}`}`;
}

/** Returns a new random webhook secret in the form that the definition of the webhook requires. */
export function generateWebhookSecret({ parameters }: Webhook): string {
  const { encoding, prefix } = secretParameters(parameters);
  const bytes = generateKeyBytes();
  if ("basic" in parameters) return `svc:${bytes.toString("base64url")}`;
  return `${prefix}${bytes.toString(encoding === "utf8" ? "base64url" : encoding)}`;
}

function secretParameters(parameters: Webhook["parameters"]): {
  readonly encoding: "utf8" | "hex" | "base64";
  readonly prefix: string;
} {
  return { encoding: "utf8", prefix: "", ...(parameters["secret"] as object | undefined) };
}
