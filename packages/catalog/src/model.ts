import type { ProjectId, TemplateTree } from "@svc/core";
import type { AccessClass, JsonSchema, PagingDocument, PollDocument } from "./read/documents.ts";
import type { SchemaValidator } from "./schema/json-schema.ts";

/** The loaded definitions. Both maps are ordered by slug; `tools` is keyed by catalog-wide slugs (`calendar.list_events`). */
export type Catalog = {
  readonly toolkits: ReadonlyMap<string, Toolkit>;
  readonly tools: ReadonlyMap<string, Tool>;
};

/** One external app, or the skills of a project. `actions`, `triggers` and `codeTools` are ordered by slug. */
export type Toolkit = {
  readonly slug: string;
  /** Owner of a private definition; empty in the shared catalog. */
  readonly ownerProjectId: ProjectId | "";
  /** SHA-256, in hexadecimal, of the parts that decide where credentials are sent: base URL and authentication. */
  readonly originDigest: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly category: string;
  /** Base URL with `{{account.*}}` unchanged and deployment values filled in, or shown as `{provider_base_url}`. */
  readonly baseUrl: string;
  readonly auth: readonly AuthScheme[];
  readonly account: readonly AccountVariable[];
  readonly always: Readonly<Record<"headers" | "query" | "body", TemplateTree>>;
  readonly identify: { readonly tool: string; readonly path: string } | undefined;
  /** The app's rate limit per account: at most `max` calls within any `perMs` milliseconds. Undefined if the definition has none. */
  readonly rate: { readonly max: number; readonly perMs: number } | undefined;
  readonly webhook: Webhook | undefined;
  readonly actions: readonly Action[];
  readonly triggers: readonly Trigger[];
  /**
   * Example phrases for tools, by the tool's name: used in search and never shown. `(a|b|)` means any one of the alternatives. Absent if
   * there are none, as in private toolkits and pins.
   */
  readonly sayings?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Tools that the service runs itself. Toolkits from definitions have none. */
  readonly codeTools: readonly CodeTool[];
};

/** An authentication scheme, in declaration order. Deployment values are filled in its scopes and addresses. */
export type AuthScheme =
  | {
      readonly type: "oauth2";
      readonly authorizeUrl: string;
      readonly tokenUrl: string;
      readonly defaultScopes: readonly string[];
      readonly refresh: boolean;
    }
  | {
      readonly type: "api_key";
      readonly placement: "header" | "query";
      readonly name: string;
      readonly value: TemplateTree;
    }
  | { readonly type: "basic" }
  | { readonly type: "none" }
  | { readonly type: "client_credentials"; readonly tokenUrl: string; readonly defaultScopes: readonly string[] };

/** A value that the connecting person enters. `decidesOrigin`: true if it can change the registrable domain, host or port. */
export type AccountVariable = {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  readonly decidesOrigin: boolean;
  /** True if a value has the declared form. Takes linear time, because patterns run on RE2. */
  accepts(value: string): boolean;
};

/** Receivers of a post's events: projects with the account that it names, or every project of the deployment. */
export type Audience = "accounts" | "projects";

/** A toolkit's inbound path. `ignores` returns true for verified posts without an event, such as handshakes. */
export type Webhook = {
  readonly secretEnv: string;
  readonly audience: Audience;
  ignores(post: Post): boolean;
} & (
  | {
      readonly scheme: "hmac_sha256";
      /** Lower-case. */
      readonly header: string;
      readonly encoding: "hex" | "base64";
      readonly prefix: string;
    }
  | { readonly scheme: "slack_v0" }
  | { readonly scheme: "token_query"; readonly parameter: string }
);

/** A verified post. Header names are in lower case. `body`: parsed JSON, undefined if there is none. */
export type Post = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams | Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** A post before signing and writing. `body` is undefined if the trigger reads none. Header names are in lower case. */
export type SamplePost = { headers: Record<string, string>; query: Record<string, string>; body: unknown };

/** Common parts of all tools. `slug` is catalog-wide, `name` is unique within the toolkit. */
export type ToolDefinition = {
  readonly slug: string;
  readonly name: string;
  readonly toolkitSlug: string;
  /** Same as its toolkit's. */
  readonly ownerProjectId: ProjectId | "";
  readonly class: AccessClass;
  readonly scopes: readonly string[];
  readonly description: string;
  readonly intents: readonly string[];
  readonly callable: boolean;
  /** Sentence for the caller on why the tool cannot be called; empty if it can. */
  readonly uncallableReason: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
};

/** A call into the app. Request parts are parsed templates. `confirm` is part of a destructive tool's input only. */
export type Action = ToolDefinition & {
  readonly kind: "action";
  readonly idempotency:
    | { readonly argument?: string; readonly header?: string; readonly maxLength?: number }
    | undefined;
  readonly request: {
    readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    readonly path: TemplateTree;
    readonly query: TemplateTree;
    readonly headers: TemplateTree;
    /** Undefined if the definition declares no body. */
    readonly body: TemplateTree | undefined;
  };
  readonly response: {
    /** Path of the result in the answer; empty for the whole answer. */
    readonly unwrap: string;
    /** Name under which a bare list or value is returned; empty for none. */
    readonly under: string;
    /** Result for a 2xx answer without a body, or without any field of the output schema; undefined if not declared. */
    readonly empty: unknown;
    readonly error: { readonly path?: string; readonly unless?: string; readonly message?: string } | undefined;
  };
  /** Paging of its list. Undefined if the list has one page or paging is not declared, as in pins of version 0.1. */
  readonly paging?: PagingDocument | undefined;
  /** How new rows of its list are found. Undefined if not declared, and in pins. */
  readonly poll?: PollDocument | undefined;
  /** Slug of the replacement for a deprecated tool. Undefined if it is not deprecated, and in pins. */
  readonly replacedBy?: string | undefined;
  /** Compiled at its first call. */
  readonly validateInput: SchemaValidator;
  /** Compiled at its first call. */
  readonly validateOutput: SchemaValidator;
};

/** An event that the app sends. The first trigger of a toolkit that matches a verified post normalizes it. */
export type Trigger = ToolDefinition & {
  readonly kind: "trigger";
  /** True if the definition reads the body of a post. */
  readonly readsBody: boolean;
  /** True if its posts name an account, so that an event may concern an entity. */
  readonly namesAccount: boolean;
  matches(post: Post): boolean;
  /** Never throws. A post that the definition cannot read returns a fault and is quarantined. */
  normalize(post: Post): NormalizedPost | NormalizeFault;
  /** Returns a sample post for the trigger, a new one every millisecond. */
  sample(nowMs: number): SamplePost;
};

/** Code that the service runs itself, such as a job program that a project promoted to a tool. */
export type CodeTool = ToolDefinition & {
  readonly kind: "code";
  /** Compiled at its first call. */
  readonly validateInput: SchemaValidator;
};

/** An action, a trigger, or code of the service. */
export type Tool = Action | Trigger | CodeTool;

/**
 * Content of an event. `account` and `dedupe` are empty if the post has none. `occurredAt`: provider's time, epoch milliseconds, undefined
 * if the post has none.
 */
export type NormalizedPost = {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly account: string;
  readonly dedupe: string;
  readonly occurredAt: number | undefined;
};

/** Why a matching post cannot be normalized, as a sentence for the operator in terms of the definition. It quotes nothing of the post. */
export type NormalizeFault = { readonly fault: string };
