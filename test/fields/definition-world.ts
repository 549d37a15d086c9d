import { createHmac } from "node:crypto";
import { toJson } from "@bufbuild/protobuf";
import { DefinitionError } from "@svc/catalog";
import type { AppRequest } from "@svc/connections";
import { createId } from "@svc/core";
import { eventsForProject } from "@svc/db/events/repo";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import {
  CatalogService,
  GetToolkitConnectSpecResponseSchema,
  GetToolkitResponseSchema,
  GetToolResponseSchema,
} from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { JobsService } from "@svc/gen/jobs";
import { StandingService } from "@svc/gen/standing";
import { ToolsService } from "@svc/gen/tools";
import { catalogOf, deploymentOf, type ToolkitSource } from "@svc/testing/catalog";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, type TestNode } from "@svc/testing/node";
import { until } from "@svc/testing/until";
import { answerOfShop, referenceOf } from "./definition-app.ts";
import { startTokenApp, type TokenApp, type TokenRequest } from "./token-app.ts";

// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
type Json = any;

/** A toolkit of one test, its tools, and the settings in the deployment file. */
export type Definition = { readonly toolkit: object; readonly tools: object; readonly deployment?: object };

/** A node that serves one definition, with a project whose entity `ada` has an account. */
export type Served = {
  readonly node: TestNode;
  advance(ms: number): void;
  readonly sent: (AppRequest & { readonly atMs: number })[];
  tool(name: string): Promise<Json>;
  toolkit(): Promise<Json>;
  spec(): Promise<Json>;
  connect(request?: object): Promise<Json>;
  call(name: string, args: object, more?: object): Promise<Json>;
  /** Posts a body to the toolkit's webhook, signed as the toolkit declares, and returns the new events. */
  post(body: object, signed: (text: string) => { headers?: object; query?: object }): Promise<Json>;
  search(query: string): Promise<string[]>;
  /** Publishes a private toolkit for an MCP server. Returns the request of a dry run of its tool, or the message of the refusal. */
  publish(definition: Definition): Promise<Json>;
  /** Returns the page after a consent to a private toolkit, whose answer names the issuer `iss`, and the address of the consent. */
  consentTo(definition: Definition, iss: string): Promise<{ readonly url: URL; readonly page: string }>;
  /** Starts the consent of `eve`. Returns the address that a browser is sent to, and the cookie that recognizes the browser. */
  consent(): Promise<{ readonly url: URL; readonly cookie: string }>;
  /**
   * Connects `eve` by consent, or the project by its own client. Makes one call, and another after two hours. Returns the token requests of
   * all this.
   */
  tokens(by: "consent" | "client"): Promise<TokenRequest[]>;
  /**
   * Polls a list three times for new or for changed rows. Returns, for each poll, its requests and its result. The polls are made once and
   * shared by all proofs.
   */
  polls(name: string, on: "new" | "changed"): Promise<Json[]>;
  /** Polls a list three times. Called again, it returns the same polls. */
  pollThrice(name: string, on: "new" | "changed"): Promise<Json[]>;
  /** Runs a job that reads a list page by page, and returns its requests. */
  pages(name: string, args: object): Promise<string[]>;
};

/** The definitions that proofs use. Each is served once. */
export type DefinitionWorld = {
  /** Serves a definition. If it is refused, returns the paths of its faults. */
  serve(definition: Definition): Promise<Served | string[]>;
  close(): Promise<void>;
};

/** Returns the value of a deployment variable, for the client's names and secrets. The value contains the variable's name. */
const variable = (name: string) => `value-of-${name.toLowerCase()}`;
/** Signs a text with the secret in a variable. */
export const signatureOf = (text: string, secretEnv: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", variable(secretEnv)).update(text).digest(encoding);
/** The secret that a variable holds. */
export const secretOf = variable;
/** Returns the value of a variable for a webhook that is verified by user name and password. */
export const pairOf = (name: string) => `user:${variable(name)}`;

/** Creates the node and the apps that proofs of definitions use. */
export async function createDefinitionWorld(): Promise<DefinitionWorld> {
  const database = await createTestDatabase({ connectionsMax: 20 });
  const tokens = await startTokenApp();
  const served = new Map<string, Promise<Served | string[]>>();
  return {
    serve(definition) {
      const text = JSON.stringify(definition).replaceAll("TOKENS", tokens.url);
      const known = served.get(text) ?? serve({ ...database, tokens }, JSON.parse(text), served.size);
      served.set(text, known);
      return known;
    },
    async close() {
      for (const one of await Promise.all(served.values()))
        if (!Array.isArray(one)) await one.node[Symbol.asyncDispose]();
      await tokens.close();
      await database.drop();
    },
  };
}

type Parts = Pick<TestDatabase, "db"> & { readonly tokens: TokenApp };

async function serve(
  { db, tokens }: Parts,
  { toolkit, tools, deployment }: Definition,
  index: number,
): Promise<Served | string[]> {
  const source = { toolkit, tools } as ToolkitSource;
  let catalog: ReturnType<typeof catalogOf>;
  try {
    catalog = catalogOf({ toolkits: [source], ...(deployment && { deployment }) });
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.faults.map(({ file, path }) => `${file.replace(/\.yaml$/, "")} ${path}`);
  }
  const clock = createTestClock();
  let posts = 0;
  const polled = new Map<string, Promise<Json[]>>();
  const sent: Served["sent"] = [];
  const transport = {
    async send(request: AppRequest) {
      sent.push({ ...request, atMs: clock.now() });
      return answerOfShop(request, index);
    },
  };
  const node = createTestNode(db, {
    ...{ clock, catalog, transport, sandboxMode: "off", engines: ["jobs", "standing"] },
    variable: JSON.stringify(toolkit).includes('"basic":true') ? pairOf : variable,
    deployment: deployment && deploymentOf(deployment),
  });
  const { id: projectId } = await createProject(db, `shop-${index}`, clock.now());
  const caller = { projectId, role: "approver", keyId: createId("key", clock.now()) } as const;
  await createApiKey(db, {
    ...{ id: caller.keyId, projectId, role: "approver", name: "", hint: "", createdAt: clock.now() },
    ...{ digest: Buffer.from(caller.keyId), expiresAt: null, revokedAt: null, lastUsedAt: null },
  });
  const { slug, account } = toolkit as { slug: string; account?: unknown };
  const variables = account === undefined ? {} : { site: "north" };
  const connections = node.client(ConnectionsService, caller);
  const clients = { catalog: node.client(CatalogService, caller), tools: node.client(ToolsService, caller) };
  const made: Served = {
    node,
    sent,
    advance: clock.advance,
    async tool(name) {
      return (toJson(GetToolResponseSchema, await clients.catalog.getTool({ slug: `${slug}.${name}` })) as Json).tool;
    },
    async toolkit() {
      return (toJson(GetToolkitResponseSchema, await clients.catalog.getToolkit({ slug })) as Json).toolkit;
    },
    async spec() {
      const answer = await clients.catalog.getToolkitConnectSpec({ slug });
      return (toJson(GetToolkitConnectSpecResponseSchema, answer) as Json).spec;
    },
    connect: (request = {}) =>
      connections.initiateConnection({
        ...{
          toolkitSlug: slug,
          entityId: "ada",
          scheme: "api_key",
          apiKey: "planted-key",
          accountVariables: variables,
        },
        ...request,
      }),
    async call(name, args, more = {}) {
      sent.length = 0;
      const request = { toolSlug: `${slug}.${name}`, argumentsJson: JSON.stringify(args), entityId: "ada", ...more };
      return clients.tools.callTool(request);
    },
    async search(query) {
      const { results } = await clients.tools.searchTools({ query, limit: 5 });
      return results.map(({ tool: found }) => found?.slug.slice(slug.length + 1) ?? "");
    },
    async publish(definition) {
      try {
        await clients.catalog.publishToolkit({ definitionJson: JSON.stringify(definition) });
        await connections.initiateConnection({ toolkitSlug: "tracker", entityId: "ada", scheme: "none" });
        const request = {
          toolSlug: "tracker.create_issue",
          argumentsJson: '{"arguments":{"title":"t"}}',
          entityId: "ada",
        };
        return (await clients.tools.callTool({ ...request, dryRun: true })).request;
      } catch (error) {
        return (error as Error).message;
      }
    },
    async consentTo(definition, iss) {
      await clients.catalog.publishToolkit({ definitionJson: JSON.stringify(definition) });
      const started = await connections.initiateConnection({
        toolkitSlug: "tracker",
        entityId: "eve",
        scheme: "oauth2",
      });
      const { headers } = await node.apps.pages.handleOauthStart(new URL(started.authorizeUrl), {});
      const url = new URL(headers["location"] ?? "");
      const back = new URL(`${url.searchParams.get("redirect_uri")}?code=c&iss=${iss}`);
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      const cookie = (headers["set-cookie"] ?? "").split(";")[0] ?? "";
      return { url, page: (await node.apps.pages.handleOauthCallback(back, { cookie })).body };
    },
    async post(body, signed) {
      const text = JSON.stringify(body).replaceAll("REFERENCE", referenceOf(index)).replace("UNIQUE", `e-${++posts}`);
      const { headers = {}, query = {} } = signed(text);
      const before = await events();
      const outcome = await node.ingest.accept({
        toolkitSlug: slug,
        headers: { "content-type": "application/json", ...headers },
        query: new URLSearchParams(query as Record<string, string>),
        body: Buffer.from(text),
      });
      return { ...outcome, made: (await events()).toSpliced(-before.length || 500) };
    },
    async consent() {
      const { authorizeUrl } = await made.connect({ entityId: "eve", scheme: "oauth2", apiKey: "" });
      const { headers } = await node.apps.pages.handleOauthStart(new URL(authorizeUrl), {});
      return { url: new URL(headers["location"] ?? ""), cookie: (headers["set-cookie"] ?? "").split(";")[0] ?? "" };
    },
    async tokens(by) {
      const from = tokens.asked.length;
      if (by === "consent") {
        const { url, cookie } = await made.consent();
        const back = new URL("https://svc.example.com/oauth/callback?code=c");
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        await node.apps.pages.handleOauthCallback(back, { cookie });
      } else {
        const client = { clientId: "own-id", clientSecret: "own-secret", accountVariables: variables };
        await connections.setProjectCredential({ toolkitSlug: slug, ...client });
      }
      for (const hours of [0, 2]) {
        clock.advance(hours * 3_600_000);
        await made.call("leave_note", { text: "hello" }, { entityId: "eve" });
      }
      return tokens.asked.slice(from);
    },
    polls(name, on) {
      const known = polled.get(on) ?? made.pollThrice(name, on);
      polled.set(on, known);
      return known;
    },
    async pollThrice(name, on) {
      const standing = node.client(StandingService, caller);
      const poll = { call: `${slug}.${name}`, entity: "ada", every: "5m", keep: ["id"], on };
      const rowsSchema = { type: "array", items: { type: "object", properties: { id: { type: "string" } } } };
      const inputSchema = { type: "object", required: ["rows"], properties: { rows: rowsSchema } };
      const program = {
        version: 1,
        title: "Polled",
        inputSchema,
        input: { rows: [] },
        steps: [{ id: "it", take: "input.rows", keep: ["id"] }],
      };
      const definition = { version: 1, source: { poll }, input: { rows: { $ref: "rows" } }, program };
      const walks: Json[] = [];
      sent.length = 0;
      const definitionJson = JSON.stringify(definition);
      const { standingProgram } = await standing.createStandingProgram({ slug: `polls-${on}`, definitionJson });
      for (let lastMs = -1; walks.length < 3; ) {
        let found: Json;
        await until(async () => {
          found = (await standing.getStandingProgram({ id: standingProgram!.id })).standingProgram;
          const atMs = Number(found?.lastPollAt?.seconds ?? -1);
          if (atMs > lastMs && found?.pollState !== undefined) return true;
          clock.advance(1_000);
          return false;
        });
        lastMs = Number(found.lastPollAt.seconds);
        const { outcome, code, pages, rows, seen } = found.pollState;
        // The clock may have moved a few seconds by the time a poll begins, so seconds are zeroed.
        const asked = sent.splice(0).map(({ url }) => new URL(url).search.replace(/(%3A)\d\d\.000Z/, "$100.000Z"));
        walks.push({ sent: asked, outcome, code, pages, rows, seen });
        clock.advance(299_000);
      }
      await standing.deleteStandingProgram({ id: standingProgram!.id });
      return walks;
    },
    async pages(name, args) {
      sent.length = 0;
      const step = {
        id: "it",
        call: `${slug}.${name}`,
        entity: "ada",
        args,
        rows: { from: "items[]", keep: ["id"], page: { max: 4 } },
      };
      const jobs = node.client(JobsService, caller);
      const { job } = await jobs.submitJob({
        programJson: JSON.stringify({ version: 1, title: "Pages", steps: [step] }),
      });
      await until(async () => {
        node.jobs.engine.wake();
        return (await jobs.getJob({ id: job!.id })).job?.finishedAt !== undefined;
      });
      return sent.map(({ url }) => new URL(url).search);
    },
  };
  const everything = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
  const events = () => eventsForProject(db, projectId).list(everything, { after: undefined, limit: 500 });
  await made.connect().catch(() => undefined);
  return made;
}
