import type { HmacKey, ProjectId, TemplateTree } from "@svc/core";
import type { AccessClass, JsonSchema, PagingDocument, PollDocument, ToolkitDocuments } from "./read/documents.ts";
import type { SchemaValidator } from "./schema/json-schema.ts";

/**
 * All loaded toolkits and their tools. Both maps are ordered by slug. The keys of `tools` are slugs that are unique in the catalog
 * (`calendar.list_events`).
 */
export type Catalog = {
  readonly toolkits: ReadonlyMap<string, Toolkit>;
  readonly tools: ReadonlyMap<string, Tool>;
  /**
   * Definitions of the shared toolkits as svc ships them, by slug, without the values and the overlay of the deployment. A project can bind
   * them to other apps than the deployment does. Undefined in views of single projects.
   */
  readonly definitions?: ReadonlyMap<string, ToolkitDocuments> | undefined;
  /**
   * Titles of the project's saved programs, by the slug of the tools that they call. Only the search uses them. Absent if there are none,
   * and in the shared catalog.
   */
  readonly titles?: ReadonlyMap<string, readonly string[]> | undefined;
};

/**
 * A toolkit: the tools of one external app, or the skills (programs promoted to tools) of a project. `actions`, `triggers` and `codeTools`
 * are ordered by slug.
 */
export type Toolkit = {
  readonly slug: string;
  /**
   * Project that owns the toolkit, if it is a private toolkit (one that a project published for itself). Empty if all projects share the
   * toolkit.
   */
  readonly ownerProjectId: ProjectId | "";
  /** SHA-256 (hexadecimal) of the parts that decide where svc sends credentials: base URL and authentication. */
  readonly originDigest: string;
  /**
   * True if the toolkit names the real app that it calls: the deployment file has an entry for it and its address is set, or a private
   * toolkit was imported or says so. The sandbox answers for other toolkits if SVC_SANDBOX is `on`. Default: false.
   */
  readonly isLive?: boolean | undefined;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly category: string;
  /**
   * Base URL of the app's API. `{{account.*}}` placeholders stay unchanged. The deployment's values are filled in; if one is not set, its
   * name is shown, as in `{provider_base_url}`.
   */
  readonly baseUrl: string;
  readonly auth: readonly AuthScheme[];
  readonly account: readonly AccountVariable[];
  readonly always: Readonly<Record<"headers" | "query" | "body", TemplateTree>>;
  readonly identify: { readonly tool: string; readonly path: string } | undefined;
  /**
   * The app's rate limit per account: at most `max` calls within any `perMs` milliseconds. Undefined if the toolkit's YAML definition has
   * none.
   */
  readonly rate: { readonly max: number; readonly perMs: number } | undefined;
  readonly webhook: Webhook | undefined;
  /** Questions that a project answers to use a shared toolkit with another app than the deployment. Absent in private toolkits. */
  readonly questions?: readonly BindingQuestion[] | undefined;
  readonly actions: readonly Action[];
  readonly triggers: readonly Trigger[];
  /**
   * Example phrases for tools, by the tool's name. Search uses them, and users never see them. `(a|b|)` means any one of the alternatives.
   * Absent if the toolkit (the tools of one app) has none. Private toolkits and definitions stored with a program never have any.
   */
  readonly sayings?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Tools that svc runs itself as code. Toolkits from definition files have none. */
  readonly codeTools: readonly CodeTool[];
};

/**
 * A question that a project answers before it uses a shared toolkit with its own app, for example about the app's address. `path`: where
 * the answer is stored: a field of the project's settings, or a path in toolkit.yaml.
 */
export type BindingQuestion = { readonly ask: string; readonly path: string; readonly needed: boolean };

/** An authentication scheme. Scopes and addresses have the deployment's values filled in. */
export type AuthScheme =
  | {
      readonly type: "oauth2";
      readonly authorizeUrl: string;
      readonly tokenUrl: string;
      readonly defaultScopes: readonly string[];
      readonly refresh: boolean;
      /** Issuer whose answers to a consent are accepted (RFC 9207). Undefined if the toolkit's definition names none. */
      readonly issuer?: string | undefined;
      /** Resource for which tokens are requested (RFC 8707). Undefined if the toolkit's definition names none. */
      readonly resource?: string | undefined;
      /** Id of the project's own OAuth client, which has no secret. Undefined if the deployment has the client. */
      readonly clientId?: string | undefined;
    }
  | {
      readonly type: "api_key";
      readonly placement: "header" | "query";
      readonly name: string;
      readonly value: TemplateTree;
    }
  /** The key is the path segment `{{credential.key}}` of the base URL. */
  | { readonly type: "api_key"; readonly placement: "path" }
  | {
      readonly type: "basic";
      /**
       * Headers and query parameters that send the two secrets of an account (its user name and password) to the app. Undefined for HTTP
       * Basic authentication.
       */
      readonly place?: readonly SecretPlace[] | undefined;
    }
  | { readonly type: "none" }
  | { readonly type: "client_credentials"; readonly tokenUrl: string; readonly defaultScopes: readonly string[] };

/** A header or query parameter that sends one of the two secrets of an account (its user name or password) to the app. */
export type SecretPlace = { readonly in: "header" | "query"; readonly name: string; readonly value: TemplateTree };

/**
 * A value that the person enters when connecting an account. `decidesOrigin`: true if the value can change the registrable domain, host or
 * port of the base URL.
 */
export type AccountVariable = {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  readonly decidesOrigin: boolean;
  /**
   * True if a value that the person enters has the form that the toolkit's YAML definition declares for this variable. Takes linear time,
   * because patterns run on RE2.
   */
  accepts(value: string): boolean;
};

/**
 * Receivers of a webhook's events. `accounts`: projects with the account that the webhook post names. `projects`: every project of the
 * deployment.
 */
export type Audience = "accounts" | "projects";

/**
 * A secret of an app's webhook, prepared for many verifications. `text`: the secret as it was entered. `key`: the key that svc makes from
 * it.
 */
export type WebhookSecret = { readonly text: string; readonly key: HmacKey };

/** A webhook post as it arrived, before it is verified. Header names are in lower case. `body`: the exact bytes. */
export type ArrivedPost = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /**
   * Path and query of the webhook post exactly as they arrived, such as `/webhooks/calendar?token=a`. Undefined if they are not known; svc
   * then refuses the post if the app's signature covers the address.
   */
  readonly target?: string | undefined;
};

/** A webhook post before it is signed. `path`: path of the webhook, such as `/webhooks/calendar`. */
export type UnsignedPost = {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly query: Record<string, string>;
  readonly body: Buffer;
};

/**
 * Values that signing a webhook post needs. `nowMs`: svc's time, in epoch milliseconds. `publicUrl`: SVC_PUBLIC_URL without a slash at its
 * end; undefined if the variable is not set.
 */
export type SigningTime = { readonly nowMs: number; readonly publicUrl?: string | undefined };

/**
 * Verifies and signs the webhook posts of a toolkit (tools and webhooks of one app). It is compiled from the scheme and the parameters of
 * the toolkit's webhook.
 */
export type Verifier = {
  readonly scheme: "hmac_sha256" | "slack_v0" | "token_query";
  /** First header that contains the signature or token, in lower case. Empty if the verification scheme reads no header. */
  readonly header: string;
  /** Text in the header before the signature or token, such as `sha256=`. It is not a part of the signature or token. */
  readonly prefix: string;
  /** Encoding of the signature: `hex`, `base64` or `base64url`. Empty if posts have a token in place of a signature. */
  readonly encoding: string;
  /** Query parameter that contains the token. Empty if the token is elsewhere. */
  readonly parameter: string;
  /** All parameters of the verification scheme, with their defaults. They have the names that toolkit.yaml uses. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** True if the signature covers the public address of svc. */
  readonly needsUrl: boolean;
  /** Names of the headers that contain the signature or secret. */
  readonly secretHeaders: ReadonlySet<string>;
  /** Returns the webhook secret that the text contains. Undefined if the text is empty or has the wrong encoding. */
  secretOf(text: string): WebhookSecret | undefined;
  /** True if headers and query prove the sender of a webhook post, false if they are wrong. Undefined if the body decides. */
  isHeadVerified(post: Pick<ArrivedPost, "headers" | "query">, secrets: readonly WebhookSecret[]): boolean | undefined;
  /**
   * True if a webhook post was signed with one of the secrets. The result depends only on the arguments. A comparison takes the same time,
   * wherever two signatures differ. A missing or empty signature is never valid.
   */
  isVerified(post: ArrivedPost, secrets: readonly WebhookSecret[], at: SigningTime): boolean;
  /**
   * Returns what is wrong with a webhook post that `isVerified` refused, as a part of a sentence for the operator's log, such as `it has no
   * header x-signature`. It names no secret and no value of the post.
   */
  whyUnverified(post: ArrivedPost, secrets: readonly WebhookSecret[], at: SigningTime): string;
  /**
   * Returns the webhook post with a signature that `isVerified` accepts. Throws an Error if the signature needs the public address of svc
   * and `at` lacks it.
   */
  sign(post: UnsignedPost, secret: WebhookSecret, at: SigningTime): UnsignedPost;
};

/** Response of svc to a handshake (the request with which an app checks a new webhook URL). `body` is empty if the response has none. */
export type HandshakeAnswer = { readonly status: number; readonly contentType: string; readonly body: string };

/**
 * A request that may be a handshake (a check of svc's webhook URL by the app). `method`: `GET`, `HEAD` or `POST`. `body`: parsed JSON,
 * undefined for a request without a body.
 */
export type HandshakeRequest = Post & { readonly method: string; readonly query: URLSearchParams };

/** The path at which svc receives the webhook posts for a toolkit (tools and webhooks of one app), with the rules for them. */
export type Webhook = Verifier & {
  /**
   * Name of the environment variable of the deployment that contains the webhook's secrets. Empty for a private toolkit (an app that a
   * project defined for itself), whose secrets are in the vault.
   */
  readonly secretEnv: string;
  readonly audience: Audience;
  readonly body: BodyRule;
  /** HTTP methods that the path accepts: `POST`, and the methods of its handshakes. */
  readonly methods: readonly string[];
  /** True if the toolkit's YAML definition has a handshake (check of a new address by the app) for webhook posts without a signature. */
  readonly hasUnsignedHandshakes: boolean;
  /** Returns true for a verified webhook post that contains no event, for example a handshake that needs no answer. */
  ignores(post: Post): boolean;
  /**
   * Returns the answer of the first handshake (rule for verifying a webhook address) that matches a request; undefined if no handshake
   * matches. Returns `refused` if a matching handshake has a wrong token. `isVerified`: true if the sender of a webhook post is proven. If
   * false, only handshakes that need no signature are used.
   */
  handshake(
    request: HandshakeRequest,
    secrets: readonly WebhookSecret[],
    isVerified: boolean,
  ): HandshakeAnswer | "refused" | undefined;
};

/** How svc reads the body of an app's webhook posts. */
export type BodyRule = {
  /** How the body is read. `json`: as JSON or a form. `text` and `base64`: the whole body becomes one text. `none`: bodies are not read. */
  readonly content: "json" | "text" | "base64" | "none";
  /**
   * If webhook posts are forms: the name of the form field that contains the JSON. `*` means that all fields of the form are read as one
   * object. Undefined if posts may not be forms.
   */
  readonly form: string | undefined;
  /**
   * Path to a list in the body. Each element of the list is a webhook post of its own. Empty: the body itself is the list. Undefined if a
   * body has only one post.
   */
  readonly each: readonly string[] | undefined;
};

/**
 * A verified webhook post. Header names are in lower case. `body`: the value that was read from the body, undefined for an empty body.
 * `item`: if the body contains a list of posts, the element of the list that is this post.
 */
export type Post = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams | Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly item?: unknown;
};

/**
 * A sample webhook post before it is signed and encoded. `body` is undefined if the trigger reads no body. Header names are in lower case.
 */
export type SamplePost = { headers: Record<string, string>; query: Record<string, string>; body: unknown };

/** Properties that all tools have. `slug` is unique in the catalog; `name` is unique in the toolkit (all tools of one app). */
export type ToolDefinition = {
  readonly slug: string;
  readonly name: string;
  readonly toolkitSlug: string;
  /** Project that owns the tool's toolkit (the tools of one app). Empty if the toolkit is shared by all projects. */
  readonly ownerProjectId: ProjectId | "";
  readonly class: AccessClass;
  readonly scopes: readonly string[];
  readonly description: string;
  readonly intents: readonly string[];
  readonly callable: boolean;
  /** Reason why the tool cannot be called, as a sentence for the caller. Empty if it can be called. */
  readonly uncallableReason: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
};

/**
 * A tool that calls the app. The parts of its request are parsed templates. If the tool is destructive, its input also has the argument
 * `confirm`.
 */
export type Action = ToolDefinition & {
  readonly kind: "action";
  readonly idempotency:
    | { readonly argument?: string; readonly header?: string; readonly maxLength?: number; readonly format?: "uuid" }
    | undefined;
  /**
   * The tool of an MCP server that the action calls. `tool`: the server's name for it. `digest`: SHA-256 (hexadecimal) of its description by
   * the server, which a person accepted. Undefined if the action sends an HTTP request of its own.
   */
  readonly mcp?: { readonly tool: string; readonly digest: string } | undefined;
  /**
   * Search phrases that the project of a private toolkit added to the tool, such as `where is my parcel`. Only the search uses them. Absent
   * if there are none, and in definitions stored with a program.
   */
  readonly phrases?: readonly string[] | undefined;
  readonly request: {
    readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    readonly path: TemplateTree;
    readonly query: TemplateTree;
    readonly headers: TemplateTree;
    /** Template of the request body. Undefined if the definition of the tool declares no request body. */
    readonly body: TemplateTree | undefined;
    /** Form of the body. `form`: `application/x-www-form-urlencoded` with names such as `a[b][0]`. Undefined for JSON. */
    readonly encoding?: "form" | undefined;
    /** `none`: a request without any field of its body is sent without a body. Undefined if it is then sent with `{}`. */
    readonly emptyBody?: "none" | undefined;
  };
  readonly response: {
    /**
     * How the app's answer is read: `text` if the answer is not JSON. The result is then an object with the member `text`. Undefined for
     * JSON.
     */
    readonly as?: "text" | undefined;
    /** Path of the result in the app's answer. Empty if the whole answer is the result. */
    readonly unwrap: string;
    /** Field name under which svc returns a result that is a list or a single value. Empty if the result is returned as it is. */
    readonly under: string;
    /**
     * Result for a 2xx answer without a body, or without any field of the output schema. Undefined if the tool's definition declares none.
     */
    readonly empty: unknown;
    readonly error:
      | { readonly path?: string; readonly unless?: string; readonly message?: string; readonly code?: string }
      | undefined;
  };
  /** How svc requests the pages of the list that the tool returns. Undefined if the tool's definition declares no paging. */
  readonly paging?: PagingDocument | undefined;
  /**
   * How svc finds new rows of the list that the tool returns. Undefined if the tool's definition declares no poll (a rule for finding new
   * rows). Undefined too in the copy of the tool's definition that is stored with a job.
   */
  readonly poll?: PollDocument | undefined;
  /**
   * Slug of the tool that replaces this deprecated tool. Undefined if the tool is not deprecated. Undefined, too, in the copy of the tool's
   * definition that is stored with a job.
   */
  readonly replacedBy?: string | undefined;
  /**
   * Returns the errors of a call's arguments according to the tool's input schema. The schema is compiled at the first call of this
   * function.
   */
  readonly validateInput: SchemaValidator;
  /**
   * Returns the errors of a tool's result according to the tool's output schema. The schema is compiled at the first call of this function.
   */
  readonly validateOutput: SchemaValidator;
};

/**
 * The tool of a toolkit that describes one kind of event. The first trigger that matches a verified webhook post makes an event from the
 * post.
 */
export type Trigger = ToolDefinition & {
  readonly kind: "trigger";
  /** True if the trigger's YAML definition reads the body of a webhook post. */
  readonly readsBody: boolean;
  /**
   * True if webhook posts for this trigger (kind of event) name an account of the app, or an entity (customer or user). An event of the
   * trigger may then concern an entity.
   */
  readonly namesAccount: boolean;
  matches(post: Post): boolean;
  /**
   * Returns the content of the event. If the webhook post cannot be read, returns an error; svc then keeps the post for inspection
   * (quarantine). Never throws.
   */
  normalize(post: Post): NormalizedPost | NormalizeFault;
  /** Returns a sample webhook post for the trigger (kind of event). Samples for two different milliseconds differ. */
  sample(nowMs: number): SamplePost;
  /** Present if the trigger is a type of a project's own events, which the project publishes. */
  readonly own?: OwnEventType | undefined;
};

/**
 * How events of a project's own type are checked. `validate`: returns the errors of a payload; undefined if every object is accepted.
 * `isArchived`: true if the type refuses new events. `isOffered`: true if the project offers the type to its customers.
 */
export type OwnEventType = {
  readonly validate: SchemaValidator | undefined;
  readonly isArchived: boolean;
  readonly isOffered: boolean;
};

/** A tool that svc runs itself as code, such as a job program that a project made into a tool. */
export type CodeTool = ToolDefinition & {
  readonly kind: "code";
  /**
   * Returns the errors of a call's arguments according to the tool's input schema. The schema is compiled at the first call of this
   * function.
   */
  readonly validateInput: SchemaValidator;
};

/** Any tool: an action, a trigger, or code that svc runs. */
export type Tool = Action | Trigger | CodeTool;

/**
 * Content of an event. `account`: the app's own id of the account to which the event belongs; set only for a shared toolkit (an app that
 * all projects can use). `entityId`: the entity (customer or user) to which the event belongs; set only for a private toolkit. `dedupe`:
 * the key by which svc recognizes a repeated post. These three texts are empty if the post does not contain the value. `occurredAt`: time
 * from the app in epoch milliseconds; undefined if the post has none.
 */
export type NormalizedPost = {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly account: string;
  readonly entityId: string;
  readonly dedupe: string;
  readonly occurredAt: number | undefined;
};

/**
 * Reason why a matching webhook post cannot become an event, as a sentence for the operator. It names parts of the toolkit's YAML
 * definition and quotes nothing from the post.
 */
export type NormalizeFault = { readonly fault: string };
