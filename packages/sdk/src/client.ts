import { type Client, createClient } from "@connectrpc/connect";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { type AnyTools, type ToolsClient, type ToolTypes, withToolCall } from "./tool-call.ts";
import { type ConnectionOptions, createSvcTransport } from "./transport.ts";

/** Options of a project's client. */
export type SvcClientOptions = ConnectionOptions & {
  /** A key of the project. Every call works in that project. */
  apiKey: string;
};

/** Options of the client for the deployment's administrator. */
export type SvcAdminClientOptions = ConnectionOptions & {
  /** The deployment's SVC_ADMIN_TOKEN. */
  adminToken: string;
};

/**
 * One typed client per service. Every call returns the response message, or rejects with a ConnectError. `Tools`: the types of the tools for
 * `tools.call`, which the command `svc types` prints.
 */
export type SvcClient<Tools extends { [Slug in keyof Tools]: ToolTypes } = AnyTools> = {
  /** Received events, subscriptions to events, deliveries, and replays. */
  readonly triggers: Client<typeof TriggersService>;
  /** Toolkits, tools, and the fields of connect forms. */
  readonly catalog: Client<typeof CatalogService>;
  /** Calls about connected accounts: the accounts of a customer or user in apps, which svc uses for tool calls. */
  readonly connections: Client<typeof ConnectionsService>;
  /** Secret values that programs send by name and that cannot be read back. */
  readonly secrets: Client<typeof SecretsService>;
  /** Search and calls of tools, and the list of past calls. */
  readonly tools: ToolsClient<Tools>;
  /** Durable jobs and the questions they ask. */
  readonly jobs: Client<typeof JobsService>;
  /** The contacts of the project: people whom jobs may ask. */
  readonly contacts: Client<typeof ContactsService>;
  /** Schedules, and their runs. */
  readonly standing: Client<typeof StandingService>;
  /** The project of the key, and the key's permissions. */
  readonly identity: Client<typeof IdentityService>;
  /** Calls about the state of a project: its waiting work, its activity over time, and a stream of its changes. */
  readonly stats: Client<typeof StatsService>;
  /** Calls that try svc without a real app or a server. They work only if the sandbox plays apps on the deployment. */
  readonly sandbox: Client<typeof SandboxService>;
  /** Sign-in links for the console, and its sessions. */
  readonly console: Client<typeof ConsoleService>;
  /** The permissions that people gave to agents. */
  readonly grants: Client<typeof GrantsService>;
};

/** The client of the deployment's administrator. It has typed calls of AdminService. */
export type SvcAdminClient = {
  /** Projects, their keys and policies, and quarantined webhook posts (which svc could not turn into events). */
  readonly admin: Client<typeof AdminService>;
};

/**
 * Returns a client that calls a service as a project. The client sends nothing before the first call, and can make any number of calls at
 * once. Reads that fail with `unavailable` are tried up to 3 times. Throws a TypeError if baseUrl is not an http(s) URL or apiKey cannot be
 * a key. `createSvcClient<SvcTools>`, with the types that `svc types` prints, gives `tools.call` the arguments and results of each tool.
 */
export function createSvcClient<Tools extends { [Slug in keyof Tools]: ToolTypes } = AnyTools>(
  options: SvcClientOptions,
): SvcClient<Tools> {
  const transport = createSvcTransport(options, checkedBearer("apiKey", options.apiKey));
  return {
    triggers: createClient(TriggersService, transport),
    catalog: createClient(CatalogService, transport),
    connections: createClient(ConnectionsService, transport),
    secrets: createClient(SecretsService, transport),
    tools: withToolCall(createClient(ToolsService, transport)),
    jobs: createClient(JobsService, transport),
    contacts: createClient(ContactsService, transport),
    standing: createClient(StandingService, transport),
    identity: createClient(IdentityService, transport),
    stats: createClient(StatsService, transport),
    sandbox: createClient(SandboxService, transport),
    console: createClient(ConsoleService, transport),
    grants: createClient(GrantsService, transport),
  };
}

/**
 * Returns a client that calls a service as the deployment's administrator. Apart from that, it works like the client of createSvcClient.
 */
export function createSvcAdminClient(options: SvcAdminClientOptions): SvcAdminClient {
  const transport = createSvcTransport(options, checkedBearer("adminToken", options.adminToken));
  return { admin: createClient(AdminService, transport) };
}

/**
 * Returns the bearer (a key or token) for the Authorization header. Throws a TypeError if the bearer contains characters that a header
 * cannot contain, so that the caller notices the mistake before the first call. The error does not contain the bearer.
 */
function checkedBearer(option: string, bearer: string): string {
  if (/^[\x21-\x7e]+$/.test(bearer)) return bearer;
  const fault = bearer === "" ? "is empty" : "holds white space or a character that is not ASCII";
  throw new TypeError(`${option} ${fault}: expected the text that was issued`);
}
