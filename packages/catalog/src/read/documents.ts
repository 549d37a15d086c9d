/** All access classes, from the least to the most dangerous one. */
export const accessClasses = ["read", "write", "destructive"] as const;

/**
 * Access class of a tool: what a call of it can do. `read` changes nothing, `write` changes data, and `destructive` removes data or cannot
 * be undone. A destructive call needs a confirmation with `confirm: true`.
 */
export type AccessClass = (typeof accessClasses)[number];

/** A JSON Schema in the definition of a toolkit, such as the schema of a tool's arguments. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * Conditions for one part of a webhook post, by field name. A field must be equal to the given value. If a list of values is given, the
 * field must be equal to one of them.
 */
export type ConditionsDocument = Readonly<Record<string, ConditionValue | readonly ConditionValue[]>>;

/** A value that is compared with a field of a webhook post. */
export type ConditionValue = string | number | boolean | null;

/**
 * A match rule in a definition file. Every named field of the webhook post must be equal to the given value, or to one of the given values.
 */
export type MatchDocument = {
  readonly headers?: ConditionsDocument;
  readonly query?: ConditionsDocument;
  readonly body?: ConditionsDocument;
  readonly item?: ConditionsDocument;
};

/** An authentication scheme in a toolkit definition (YAML file of one app): an entry of `auth`, as in schemas/toolkit.schema.json. */
export type AuthDocument =
  | OauthDocument
  | { type: "api_key"; placement: "header" | "query"; name: string; value: string }
  | { type: "api_key"; placement: "path" }
  | { type: "basic"; place?: readonly { in: "header" | "query"; name: string; value: string }[] }
  | { type: "none" }
  | { type: "client_credentials"; tokenUrl: string; defaultScopes?: string[] };

/**
 * The authentication scheme `oauth2` of a toolkit definition. `issuer`, `resource` and `clientId` are only in private toolkits (published by
 * one project): the issuer whose answers are accepted, the resource for which tokens are asked for (RFC 8707), and the project's own client,
 * which has no secret.
 */
export type OauthDocument = {
  readonly type: "oauth2";
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly defaultScopes: readonly string[];
  readonly refresh: boolean;
  readonly issuer?: string;
  readonly resource?: string;
  readonly clientId?: string;
};

/** How svc reads the bodies of an app's webhook posts, as the app's toolkit definition declares it. */
export type BodyDocument = {
  readonly form?: string;
  readonly each?: string;
  readonly content?: "text" | "base64" | "none";
};

/**
 * Parameters with which a webhook verifies the requests that an app posts by the scheme `hmac_sha256`, as in schemas/toolkit.schema.json.
 */
export type HmacDocument = {
  readonly scheme: "hmac_sha256";
  readonly header: string | readonly string[];
  readonly encoding: "hex" | "base64" | "base64url";
  readonly prefix?: string;
  readonly split?: "comma" | "semicolon" | "space";
  readonly signed?: string;
  readonly secret?: { readonly encoding?: "utf8" | "hex" | "base64"; readonly prefix?: string };
  readonly timestamp?: string;
  readonly tolerance?: string;
};

/**
 * Parameters with which a webhook verifies the requests that an app posts by the scheme `token_query`, as in schemas/toolkit.schema.json.
 */
export type TokenDocument = {
  readonly scheme: "token_query";
  readonly parameter?: string;
  readonly header?: string | readonly string[];
  readonly prefix?: string;
  readonly basic?: true;
};

/** A handshake by which an app checks svc's webhook URL: an entry of `handshakes`, as in schemas/toolkit.schema.json. */
export type HandshakeDocument = {
  readonly method: "GET" | "HEAD" | "POST";
  readonly when?: MatchDocument;
  readonly token?: string;
  readonly unsigned?: boolean;
  readonly answer: { readonly status?: number; readonly text?: string; readonly json?: unknown };
};

/** The part `webhook` of a toolkit definition (YAML file of one app), as in schemas/toolkit.schema.json. */
export type WebhookDocument = BodyDocument & {
  /**
   * Name of the environment variable of the deployment that contains the webhook's secret. Absent in the definition of a private toolkit,
   * because its project sets the secret through the API.
   */
  readonly secretEnv?: string;
  readonly ignore?: readonly MatchDocument[];
  readonly handshakes?: readonly HandshakeDocument[];
} & (HmacDocument | { readonly scheme: "slack_v0" } | TokenDocument);

/** A `sayings.yaml`: example phrases by tool name. */
export type ExamplePhrasesDocument = Readonly<Record<string, readonly string[]>>;

/**
 * A question that a project answers before it uses a shared toolkit with its own app. `path`: place in toolkit.yaml that the answer fills
 * in, such as `auth[0].name`. For a path with a colon, such as `always.headers:version`, the user answers with a header's name and value
 * (`NAME: VALUE`). `needed`: true if calls fail without an answer; default false.
 */
export type BindingDocument = { readonly ask: string; readonly path: string; readonly needed?: boolean };

/** Content of a `toolkit.yaml` file (definition of one app) that satisfies schemas/toolkit.schema.json. */
export type ToolkitDocument = {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly category: string;
  /** Base URL of the app's API. Absent exactly if `mcp` is set. */
  readonly baseUrl?: string;
  /** Address of the MCP server that runs the tools. Only in private toolkits (published by one project). */
  readonly mcp?: { readonly url: string };
  readonly auth: readonly AuthDocument[];
  readonly account?: readonly { name: string; description: string; example?: string; pattern?: string }[];
  readonly always?: { headers?: object; query?: object; body?: object };
  readonly identify?: { tool: string; path: string };
  readonly rate?: { max: number; per: string };
  readonly webhook?: WebhookDocument;
  /** Questions about the real app that a project answers to use a shared toolkit with the app. Only in shared toolkits. */
  readonly binding?: readonly BindingDocument[];
  /** True if the calls reach the real app even if the sandbox plays other toolkits. Only in private toolkits (published by one project). */
  readonly live?: boolean;
};

/** The HTTP request of an action, as in schemas/tool.schema.json. All strings are templates. */
export type RequestDocument = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly encoding?: "json" | "form";
  readonly emptyBody?: "none";
};

/** The part of an action's definition that says how svc reads the app's answer, as in schemas/tool.schema.json. */
export type ResponseDocument = {
  readonly as?: "text";
  readonly unwrap?: string;
  readonly under?: string;
  readonly empty?: unknown;
  readonly error?: { path?: string; unless?: string; message?: string; code?: string };
};

/** How svc requests the next page of a list. */
export type PagingDocument = {
  /** Argument that selects the page. */
  readonly arg: string;
  /** Path in the answer of the next value for `arg`. Without it, svc counts pages from `start`. */
  readonly from?: string;
  /** Name of the query parameter to use, if the value at `from` is a link. */
  readonly query?: string;
  readonly start?: number;
  /** `rows`: svc counts rows instead of pages. */
  readonly by?: "rows";
  /** Argument for the number of rows per page. */
  readonly size?: string;
  /** Path of a boolean in the answer that is false on the last page. */
  readonly more?: string;
};

/**
 * How a poll of a list continues after the previous poll. `kind` is one of:
 * - `seen`: every poll reads all pages and compares the ids of the rows with known ids.
 * - `after`: the argument `arg` gets the greatest value of the field `from` among the rows, minus `overlap` if the value is a time, or plus
 *   `step`. Without `from`, `arg` gets the time of the previous poll.
 * - `newest`: the arguments `args` sort the newest rows first. A poll stops at a page without unknown ids.
 * - `token`: the argument `arg` gets the value at the path `from` in the previous answer. The poll continues while the field `more` is
 *   true.
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
 * How a poll finds rows in a tool's output. `rows`: path of the list of rows. `id`: path of the id in each row. `size`: the argument for
 * the maximum number of rows. `cursor`: how the next poll continues. `changed`: the cursor for polls that look for changed rows; absent if
 * they use `cursor`.
 */
export type PollDocument = {
  readonly rows: string;
  readonly id: string;
  readonly size?: string;
  readonly cursor: PollCursorDocument;
  readonly changed?: PollCursorDocument;
};

/**
 * The tool of an MCP server that an action calls. `tool`: the server's name for it. `digest`: SHA-256 (hexadecimal) of the description of
 * the tool as the server sent it. `argument`: name of the action's only argument, if it holds all arguments of the server's tool.
 */
export type McpToolDocument = { readonly tool: string; readonly digest: string; readonly argument?: string };

/** Content of an action's definition file that satisfies schemas/tool.schema.json. */
export type ActionDocument = {
  readonly kind: "action";
  readonly class: AccessClass;
  readonly scopes?: readonly string[];
  readonly description: string;
  /** Phrases by which searches find the tool. Absent only in definitions of private toolkits (published by one project). */
  readonly intents?: readonly string[];
  readonly callable?: boolean;
  readonly uncallableReason?: string;
  readonly replacedBy?: string;
  readonly idempotency?: { argument?: string; header?: string; maxLength?: number; format?: "uuid" };
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** The HTTP request of the call. Absent exactly if `mcp` is set. */
  readonly request?: RequestDocument;
  /** The tool of an MCP server that the action calls. Only in toolkits with an MCP server. */
  readonly mcp?: McpToolDocument;
  readonly response?: ResponseDocument;
  readonly paging?: PagingDocument;
  readonly poll?: PollDocument;
};

/** Content of a trigger's definition file. The content satisfies schemas/tool.schema.json. */
export type TriggerDocument = {
  readonly kind: "trigger";
  readonly scopes?: readonly string[];
  readonly description: string;
  /** Phrases by which searches find the trigger. Absent only in definitions of private toolkits (published by one project). */
  readonly intents?: readonly string[];
  readonly output: JsonSchema;
  readonly match: MatchDocument;
  readonly account?: string;
  /** Template for the id of the entity (the customer or user) that the event concerns. Only private toolkits may set this field. */
  readonly entity?: string;
  readonly dedupe?: string;
  readonly occurredAt?: string;
  readonly payload: Readonly<Record<string, unknown>>;
};

/** Content of a tool's definition file that satisfies schemas/tool.schema.json. */
export type ToolDocument = ActionDocument | TriggerDocument;

/** Values of one toolkit (one app) in a deployment file that satisfies schemas/deployment.schema.json. */
export type ToolkitDeploymentDocument = {
  readonly provider_base_url?: string;
  readonly auth_url?: string;
  readonly token_url?: string;
  readonly scope_base?: string;
  readonly oauth?: { client_id_env: string; client_secret_env: string };
  readonly webhook?: { audience?: "accounts" | "projects" };
  readonly overlay?: { toolkit?: object; tools?: Record<string, object> };
};

/** Documents of a toolkit (the tools and webhooks of one app) that passed all checks. `tools` is ordered by name. */
export type ToolkitDocuments = {
  readonly toolkit: ToolkitDocument;
  readonly tools: ReadonlyMap<string, ToolDocument>;
  readonly sayings?: ExamplePhrasesDocument | undefined;
};
