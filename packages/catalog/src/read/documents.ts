/** Effect of a call. Destructive calls need confirmation with `confirm: true`. */
export type AccessClass = "read" | "write" | "destructive";

/** A JSON Schema in a definition. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Conditions for one part of a post: a value, or several of which one must be equal. */
export type ConditionsDocument = Readonly<Record<string, ConditionValue | readonly ConditionValue[]>>;

/** Value for comparison with a field of a post. */
export type ConditionValue = string | number | boolean | null;

/** A match rule in a file: every named value must be equal to, or among, the given ones. */
export type MatchDocument = {
  readonly headers?: ConditionsDocument;
  readonly query?: ConditionsDocument;
  readonly body?: ConditionsDocument;
};

/** An entry of a toolkit's `auth`, by schemas/toolkit.schema.json. */
export type AuthDocument =
  | { type: "oauth2"; authorizeUrl: string; tokenUrl: string; defaultScopes: string[]; refresh: boolean }
  | { type: "api_key"; placement: "header" | "query"; name: string; value: string }
  | { type: "basic" }
  | { type: "none" }
  | { type: "client_credentials"; tokenUrl: string; defaultScopes?: string[] };

/** A toolkit's `webhook`, by schemas/toolkit.schema.json. */
export type WebhookDocument = { readonly secretEnv: string; readonly ignore?: readonly MatchDocument[] } & (
  | { scheme: "hmac_sha256"; header: string; encoding: "hex" | "base64"; prefix?: string }
  | { scheme: "slack_v0" }
  | { scheme: "token_query"; parameter: string }
);

/** A `sayings.yaml`: example phrases by tool name. */
export type ExamplePhrasesDocument = Readonly<Record<string, readonly string[]>>;

/** A `toolkit.yaml` that satisfies schemas/toolkit.schema.json. */
export type ToolkitDocument = {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly category: string;
  readonly baseUrl: string;
  readonly auth: readonly AuthDocument[];
  readonly account?: readonly { name: string; description: string; example?: string; pattern?: string }[];
  readonly always?: { headers?: object; query?: object; body?: object };
  readonly identify?: { tool: string; path: string };
  readonly rate?: { max: number; per: string };
  readonly webhook?: WebhookDocument;
};

/** HTTP call of an action, by schemas/tool.schema.json. Strings are templates. */
type RequestDocument = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** How an action's answer is read, by schemas/tool.schema.json. */
type ResponseDocument = {
  readonly unwrap?: string;
  readonly under?: string;
  readonly empty?: unknown;
  readonly error?: { path?: string; unless?: string; message?: string };
};

/**
 * How the next page of a list is requested. Argument `arg` gets the value at `from`, or parameter `query` of the link there. Without `from`
 * it counts pages or, `by` rows, rows, starting at `start`. `size`: argument for the rows per page. `more`: boolean that is false on the
 * last page.
 */
export type PagingDocument = {
  readonly arg: string;
  readonly from?: string;
  readonly query?: string;
  readonly start?: number;
  readonly by?: "rows";
  readonly size?: string;
  readonly more?: string;
};

/**
 * How a poll of a list continues. `seen`: every poll reads all pages and compares ids. `after`: argument `arg` gets the greatest `from` of
 * the rows, minus `overlap` if it is a time, or plus `step`; without `from`, the time of the poll. `newest`: with `args` the newest rows
 * come first, and a poll ends at a page without unknown ids. `token`: `arg` gets the value at `from` in the previous answer, while `more`
 * is true.
 */
export type PollCursorDocument = {
  readonly kind: "seen" | "after" | "newest" | "token";
  readonly arg?: string;
  readonly from?: string;
  readonly overlap?: string;
  readonly step?: number;
  readonly more?: string;
  readonly args?: Readonly<Record<string, unknown>>;
};

/**
 * How new rows of a list are found: `rows` is their path in the output, `id` the id of each, and a cursor continues the poll. `changed`:
 * the cursor for changed rows, if it differs. `size`: for a list of one page, the argument for its maximum rows.
 */
export type PollDocument = {
  readonly rows: string;
  readonly id: string;
  readonly size?: string;
  readonly cursor: PollCursorDocument;
  readonly changed?: PollCursorDocument;
};

/** An action's file that satisfies schemas/tool.schema.json. */
export type ActionDocument = {
  readonly kind: "action";
  readonly class: AccessClass;
  readonly scopes?: readonly string[];
  readonly description: string;
  readonly intents: readonly string[];
  readonly callable?: boolean;
  readonly uncallableReason?: string;
  readonly replacedBy?: string;
  readonly idempotency?: { argument?: string; header?: string; maxLength?: number };
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly request: RequestDocument;
  readonly response?: ResponseDocument;
  readonly paging?: PagingDocument;
  readonly poll?: PollDocument;
};

/** A trigger's file that satisfies schemas/tool.schema.json. */
export type TriggerDocument = {
  readonly kind: "trigger";
  readonly scopes?: readonly string[];
  readonly description: string;
  readonly intents: readonly string[];
  readonly output: JsonSchema;
  readonly match: MatchDocument;
  readonly account?: string;
  readonly dedupe?: string;
  readonly occurredAt?: string;
  readonly payload: Readonly<Record<string, unknown>>;
};

/** A tool's file that satisfies schemas/tool.schema.json. */
export type ToolDocument = ActionDocument | TriggerDocument;

/** One toolkit of a deployment file that satisfies schemas/deployment.schema.json. */
export type ToolkitDeploymentDocument = {
  readonly provider_base_url?: string;
  readonly auth_url?: string;
  readonly token_url?: string;
  readonly scope_base?: string;
  readonly oauth?: { client_id_env: string; client_secret_env: string };
  readonly webhook?: { audience?: "accounts" | "projects" };
  readonly overlay?: { toolkit?: object; tools?: Record<string, object> };
};
