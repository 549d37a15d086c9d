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
  /** The project whose private definition it is; empty in the shared catalog. */
  readonly ownerProjectId: ProjectId | "";
  /** SHA-256, in hexadecimal, of what decides where credentials are sent: base URL and authentication. */
  readonly originDigest: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly category: string;
  /** The base URL with `{{account.*}}` left in, deployment values filled in or shown as `{provider_base_url}`. */
  readonly baseUrl: string;
  readonly auth: readonly AuthScheme[];
  readonly account: readonly AccountVariable[];
  readonly always: Readonly<Record<"headers" | "query" | "body", TemplateTree>>;
  readonly identify: { readonly tool: string; readonly path: string } | undefined;
  /** What the app takes of one account: at most `max` calls within any `perMs` milliseconds. Undefined where the definition does not say. */
  readonly rate: { readonly max: number; readonly perMs: number } | undefined;
  readonly webhook: Webhook | undefined;
  readonly actions: readonly Action[];
  readonly triggers: readonly Trigger[];
  /**
   * What people say who want a tool, by the tool's name: searched and shown to nobody. In a saying, `(a|b|)` stands for any one of
   * what it lists. Absent where nobody wrote any, as in private toolkits and what is pinned.
   */
  readonly sayings?: ReadonlyMap<string, readonly string[]> | undefined;
  /** What the service runs itself; no toolkit of definitions has any. */
  readonly codeTools: readonly CodeTool[];
};

/** A way to authenticate, in declaration order. Scopes and addresses have their deployment values filled in. */
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

/** A value the connecting person fills in. `decidesOrigin`: it can change the registrable domain, host or port dialed. */
export type AccountVariable = {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  readonly decidesOrigin: boolean;
  /** Whether a value has the declared form. Takes linear time: patterns run on RE2. */
  accepts(value: string): boolean;
};

/** Who receives the events of a post: the projects whose account it names, or every project of the deployment. */
export type Audience = "accounts" | "projects";

/** A toolkit's inbound path. `ignores` is true for verified posts that carry no event, such as handshakes. */
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

/** A verified post. Header names are lower-case; `body` is the parsed JSON, undefined when there is none. */
export type Post = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams | Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** A post before it is signed and written: `body` is undefined when the trigger reads nothing of one. Header names are lower-case. */
export type SamplePost = { headers: Record<string, string>; query: Record<string, string>; body: unknown };

/** What all tools have in common. `slug` is catalog-wide, `name` is unique within the toolkit. */
export type ToolDefinition = {
  readonly slug: string;
  readonly name: string;
  readonly toolkitSlug: string;
  /** As its toolkit's. */
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

/** A call into the app. Request parts are parsed templates; `confirm` stands in a destructive tool's input and nowhere else. */
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
    /** Undefined when the definition declares no body. */
    readonly body: TemplateTree | undefined;
  };
  readonly response: {
    /** Path of the payload in the answer; empty for the whole answer. */
    readonly unwrap: string;
    /** Name that a payload which is a bare list or value is presented under; empty for none. */
    readonly under: string;
    /** The result when a 2xx answer has no body, or nothing that the output schema names; undefined when none is declared. */
    readonly empty: unknown;
    readonly error: { readonly path?: string; readonly unless?: string; readonly message?: string } | undefined;
  };
  /** How its pages are asked for; undefined where its list has one page, or nobody said, as in what version 0.1 pinned. */
  readonly paging?: PagingDocument | undefined;
  /** How new rows of its list are found; undefined where nobody said, and in what is pinned. */
  readonly poll?: PollDocument | undefined;
  /** Slug of the tool to use instead of one that its app has deprecated; undefined where it is not, and in what is pinned. */
  readonly replacedBy?: string | undefined;
  /** Compiled at its first call. */
  readonly validateInput: SchemaValidator;
  /** Compiled at its first call. */
  readonly validateOutput: SchemaValidator;
};

/** An event the app sends. The first trigger of a toolkit that matches a verified post normalizes it. */
export type Trigger = ToolDefinition & {
  readonly kind: "trigger";
  /** True if anything of the definition is taken from the body of a post. */
  readonly readsBody: boolean;
  /** True if its posts name an account, so that an event may be about an entity. */
  readonly namesAccount: boolean;
  matches(post: Post): boolean;
  /** Never throws: a post the definition cannot take is a fault, and belongs in quarantine. */
  normalize(post: Post): NormalizedPost | NormalizeFault;
  /** A post that it takes, made of its definition: a new one at every millisecond. */
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
 * What an event is made of. `account` and `dedupe` are empty where the post names none; `occurredAt` is the provider's time in
 * epoch milliseconds, undefined where the post carries none.
 */
export type NormalizedPost = {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly account: string;
  readonly dedupe: string;
  readonly occurredAt: number | undefined;
};

/** Why a post that matched cannot be normalized, as a sentence for the operator in words of the definition: it quotes nothing of the post. */
export type NormalizeFault = { readonly fault: string };
