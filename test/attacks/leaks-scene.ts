import { startTestServer, type TestServer } from "@svc/testing/server";
import { startSubscriber } from "@svc/testing/subscriber";
import { writeDeployment } from "../tools/project.ts";
import { type Provider, reply, type Seen, startProvider } from "../tools/provider.ts";
import { useKeys, useOauth, usePosts, useTools } from "./leaks-acts.ts";
import { useJobs } from "./leaks-jobs.ts";
import type { Answered, Json, Playing } from "./leaks-playing.ts";
import { readAll, rotateVault } from "./leaks-reads.ts";
import { type PlantedKinds, plant } from "./planted.ts";

/** The result of a deployment in which every call that takes or creates a secret was made, and everything was read. */
export type Scene = PlantedKinds &
  AsyncDisposable & {
    readonly server: TestServer;
    readonly app: Provider;
    /** The answers of all calls, in order. */
    readonly answers: readonly Answered[];
    /** The requests that subscribers and endpoints of contacts received. */
    readonly posted: readonly string[];
    /** Pages of the service itself, and the text of its metrics. */
    readonly pages: readonly string[];
  };

/** Parts of answers that contain a secret on purpose. They are not searched. */
const handedOut: Readonly<Record<string, { readonly fields: readonly string[]; readonly why: string }>> = {
  "AdminService/CreateApiKey": { fields: ["key"], why: "the key, once" },
  "GrantsService/CreateAgentKey": { fields: ["key"], why: "the key, once" },
  "TriggersService/CreateSubscription": { fields: ["signingSecret"], why: "the signing secret, once" },
  "TriggersService/RotateSubscriptionSecret": { fields: ["signingSecret"], why: "the new signing secret, once" },
  "JobsService/CreateAskEndpoint": { fields: ["signingSecret"], why: "the signing secret, once" },
  "ToolsService/CallTool": { fields: ["resultJson"], why: "the result of a call that is ok is its caller's" },
  "TriggersService/PutWebhookSecret": { fields: ["value"], why: "the secret that svc generated, once" },
  "TriggersService/GetQuarantinedPost": { fields: ["body"], why: "the post as it came, to the project's approver" },
  "AdminService/GetQuarantinedPost": { fields: ["body"], why: "the post as it came, to the administrator" },
};

/** Makes all calls of the scene, and reads everything. */
export async function playLeaks(): Promise<Scene> {
  const secrets = Object.fromEntries(
    `apiKey otherKey username password clientSecret projectSecret webhookSecret code access refresh argument unknownName
    result programInput skillInput literal answered stepResult rowValue vaultValue embeddingsKey headerValue bearerToken`
      .split(/\s+/)
      .map((name) => [name, plant(name)]),
  ) as Record<string, string>;
  const words = Object.fromEntries(
    "plainArgument plainResult appSaid programNote programParam quarantined"
      .split(" ")
      .map((name) => [name, plant(name)]),
  ) as Record<string, string>;
  const app = await startProvider();
  const receiver = await startSubscriber();
  const bound = { provider_base_url: app.url };
  const deployment = await writeDeployment({
    bank_link: bound,
    sales_crm: bound,
    messaging_bot: bound,
    calendar: {
      ...bound,
      auth_url: `${app.url}/authorize`,
      token_url: `${app.url}/token`,
      scope_base: "https://scopes.example.com",
      oauth: { client_id_env: "CALENDAR_ID", client_secret_env: "CALENDAR_SECRET" },
      webhook: { audience: "projects" },
    },
  });
  const server = await startTestServer({
    isRotatable: true,
    variables: {
      SVC_SANDBOX: "off",
      SVC_DEPLOYMENT: deployment.path,
      // The test app also serves as the embeddings endpoint. It returns vectors of tools, and refuses search texts with a message that
      // repeats the whole request.
      SVC_EMBEDDINGS_URL: `${app.url}/embeddings`,
      SVC_EMBEDDINGS_MODEL: "any",
      CALENDAR_ID: "client-1",
      CALENDAR_SECRET: secrets["clientSecret"] ?? "",
      SVC_WEBHOOK_SECRET_CALENDAR: secrets["webhookSecret"] ?? "",
    },
  });
  secrets["adminToken"] = server.adminToken;
  secrets["bootstrapKey"] = server.key;
  const answers: Answered[] = [];
  const pages: string[] = [];
  const scene = {
    secrets,
    words,
    app,
    server,
    answers,
    pages,
    held: [] as (() => void)[],
    receiver,
    /** Makes a call and keeps its answer. Secrets that the answer returns on purpose are searched for from then on. */
    async call(method: string, body: object = {}, bearer = server.key): Promise<Json> {
      const { code, json } = await server.call(`svc.v1.${method}`, body, { bearer });
      const shown = { ...json };
      const { fields = [] } = handedOut[method] ?? {};
      for (const field of fields) {
        if (method === "ToolsService/CallTool" && json.outcome !== "ok") continue;
        if (/[kK]ey$|Secret$|^value$/.test(field) && typeof json[field] === "string" && json[field] !== "")
          secrets[`${method} ${answers.length}`] = json[field];
        delete shown[field];
      }
      answers.push({ method, isOk: code === "ok", text: JSON.stringify(shown) });
      return json;
    },
  };
  app.answer = (seen, res) => playApp(scene, seen, res);
  for (const act of [useKeys, useTools, useOauth, useJobs, usePosts, rotateVault, readAll]) await act(scene);
  return {
    ...scene,
    get posted() {
      return receiver.received.map(({ body, headers }) => body + JSON.stringify(headers));
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await Promise.all([app.close(), receiver.close(), deployment[Symbol.asyncDispose]()]);
    },
  };
}

/** Starts an app that quotes the whole request in each refusal, and repeats tokens at unexpected places. */
function playApp(
  { secrets, words, held }: Playing,
  { path, query, headers, body, method }: Seen,
  res: Parameters<Provider["answer"]>[1],
): void {
  const quoted = { error: { message: `${words["appSaid"]}: ${method} ${JSON.stringify(headers)} ${body}` } };
  if (path === "/token") {
    reply(res, {
      access_token: secrets["access"],
      refresh_token: secrets["refresh"],
      token_type: "bearer",
      expires_in: 3600,
    });
  } else if (path === "/item/public_token/exchange") {
    const isJob = [secrets["programInput"], secrets["skillInput"]].some(
      (token) => token !== undefined && body.includes(token),
    );
    reply(res, { access_token: isJob ? secrets["stepResult"] : secrets["result"], item_id: "i", request_id: "r" });
  } else if (path === "/embeddings" && (JSON.parse(body) as Json).input.length > 1) {
    reply(res, { data: (JSON.parse(body) as Json).input.map(() => ({ embedding: [1, 2, 3] })) });
  } else if (path === "/item/get" && !body.includes("fail")) {
    reply(res, { item: { item_id: (JSON.parse(body) as Json).access_token, institution_id: words["plainResult"] } });
  } else if (path === "/auth/get") {
    reply(res, { numbers: { ach: [{ account_id: "1", account: secrets["rowValue"] }] } });
  } else if (query.get("status") === "lost") held.push(() => reply(res, { data: [] }));
  else if (path === "/own") {
    const said = `${headers.authorization} ${headers["x-key"]} ${query.get("key")} ${body}`;
    reply(res, { said, list: [{ said }, { said: { deep: said } }] });
  } else if (path === "/getMe") reply(res, { ok: true, result: { id: 1 } });
  else if (path === "/deleteMessage") reply(res, { ok: true, result: true });
  else if (path === "/sendMessage") reply(res, { ok: true, result: { message_id: 7 } });
  else if (path.endsWith("/events") && method === "GET") reply(res, { items: [] });
  else reply(res, quoted, { status: 400 });
}
