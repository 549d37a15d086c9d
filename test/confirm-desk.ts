import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { writeToolkits } from "@svc/testing/catalog";
import { desk } from "@svc/testing/desk";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";

/** Tools of the test app that write, and the one that is destructive. */
export const sendNote = "desk.send_note";
export const deleteNote = "desk.delete_note";

/** A request that changed something in the test app. */
export type Written = { readonly method: string; readonly path: string; readonly text: string };

/** A service with a test app on loopback, which records every request that changes something. */
export type DeskWorld = AsyncDisposable & {
  readonly svc: TestServer;
  readonly projectId: string;
  /** Base address of the app. */
  readonly host: string;
  /** All requests to the app that are not reads, in order. */
  readonly written: Written[];
  /** Answers the notes whose text is `slow`. They get no answer before. */
  answerSlow(): void;
  /** Returns the number of deletions that the app has received. */
  deletions(): number;
  /** Makes a call with a key, and returns the answer. Throws if the call is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  made(method: string, body: object, bearer: string): Promise<any>;
  /** Makes a call and returns its answer, also if it is refused. */
  tried(method: string, body: object, bearer: string): Promise<TestAnswer>;
  createKey(name: string, more?: object): Promise<string>;
  setPolicy(confirm: object): Promise<void>;
  /** Submits a program with these steps that needs no approval. Returns the job's id. */
  submit(bearer: string, steps: readonly object[], more?: object): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  job(id: string): Promise<any>;
  /** Waits until a job has one of these statuses (without their prefix), and returns the job. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  reach(id: string, ...statuses: string[]): Promise<any>;
  /** Waits until a job asks a person to confirm it. */
  asked(id: string): Promise<void>;
  answer(jobId: string, continuation: string, bearer: string, more?: object): Promise<TestAnswer>;
};

/** Starts the service, with the contact `lead` and an account of `ada`. A note whose text is `fail` gets the answer 500. */
export async function startDeskWorld(): Promise<DeskWorld> {
  const written: Written[] = [];
  const slow = Promise.withResolvers<void>();
  const app = createServer(async (req, res) => {
    const body = await bodyOf(req);
    res.setHeader("content-type", "application/json");
    if (req.method === "GET") {
      const id = /^\/items\/(\w+)/.exec(req.url ?? "")?.[1];
      res.end(JSON.stringify(id === undefined ? { items: [{ id: "i1" }] } : { id, text: "an item" }));
      return;
    }
    written.push({ method: req.method ?? "", path: req.url ?? "", text: body.text ?? "" });
    if (body.text === "fail") res.statusCode = 500;
    if (body.text === "slow") await slow.promise;
    res.end(JSON.stringify({ id: "n1", text: "sent" }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => app.once("listening", resolve));
  const folder = await mkdtemp(join(tmpdir(), "svc-confirm-"));
  await writeToolkits(folder, [{ ...desk, toolkit: { ...desk.toolkit, baseUrl: "{{deployment.provider_base_url}}" } }]);
  const host = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const deployment = join(folder, "deployment.yaml");
  await writeFile(deployment, JSON.stringify({ toolkits: { desk: { provider_base_url: host } } }));
  const svc = await startTestServer({ variables: { SVC_TOOLKITS: folder, SVC_DEPLOYMENT: deployment } });
  const projectId = (await svc.admin("ListProjects")).json.projects[0].id;
  const world: DeskWorld = {
    ...{ svc, projectId, host, written },
    answerSlow: slow.resolve,
    deletions: () => written.filter(({ method }) => method === "DELETE").length,
    async made(method, body, bearer) {
      const answer = await world.tried(method, body, bearer);
      if (answer.status !== 200) throw new Error(`${method}: ${JSON.stringify(answer.json)}`);
      return answer.json;
    },
    tried: (method, body, bearer) => svc.call(`svc.v1.${method}`, body, { bearer }),
    async createKey(name, more = {}) {
      return (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name, ...more })).json.key;
    },
    async setPolicy(confirm) {
      const answer = await svc.admin("SetProjectPolicy", { projectId, confirm });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.json));
    },
    async submit(bearer, steps, more = {}) {
      const program = { version: 1, title: "T", approval: { plan: "never" }, steps, ...more };
      return (await world.made("JobsService/SubmitJob", { programJson: JSON.stringify(program) }, bearer)).job.id;
    },
    job: async (id) => (await world.made("JobsService/GetJob", { id }, svc.key)).job,
    async reach(id, ...statuses) {
      const names = statuses.map((status) => `JOB_STATUS_${status}`);
      await until(async () => names.includes((await world.job(id)).status), `job ${id} ${statuses.join(" or ")}`);
      return world.job(id);
    },
    asked: (id) => until(async () => (await world.job(id)).park?.judgment?.pointId === "confirm", `${id} asks`),
    answer: (jobId, continuation, bearer, more = {}) =>
      world.tried("JobsService/AnswerAsk", { jobId, principalId: "lead", continuation, ...more }, bearer),
    async [Symbol.asyncDispose]() {
      await svc.stop();
      app.closeAllConnections();
      app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const account = { toolkitSlug: "desk", entityId: "ada", scheme: "none" };
  await world.made("ConnectionsService/InitiateConnection", account, svc.key);
  await world.made("ContactsService/PutContact", { contact: { principalId: "lead", name: "Team lead" } }, svc.key);
  return world;
}

async function bodyOf(req: IncomingMessage): Promise<{ readonly text?: string }> {
  const raw = await text(req);
  return raw === "" ? {} : JSON.parse(raw);
}

/** Steps of programs. Each calls a tool of the test app for the entity ada. */
export const reading = (id = "r") => ({ id, call: "desk.list_items", entity: "ada", args: {} });
export const writing = (note: unknown, id = "w") => ({ id, call: sendNote, entity: "ada", args: { text: note } });
export const deleting = (note: unknown, id = "d") => ({
  ...{ id, call: deleteNote, entity: "ada" },
  args: { id: note, confirm: true },
});

/**
 * Returns the definition of a private toolkit with one tool, `remove`, which takes the id of a note. `tool`: other fields of the tool, for
 * example its access class.
 */
export function ownDefinition(baseUrl: string, tool: object = {}, slug = "own"): string {
  const text = { type: "string" };
  const remove = {
    ...{ kind: "action", class: "write", description: "Removes a note of our own from the desk, for good, by its id." },
    intents: ["remove our note", "take the note away", "no more of that note"],
    input: {
      type: "object",
      additionalProperties: false,
      required: ["id"],
      properties: { id: { ...text, description: "Id of the note." } },
    },
    output: { type: "object", properties: { id: text } },
    request: { method: "POST", path: "/own/{{params.id}}" },
    ...tool,
  };
  return JSON.stringify({
    toolkit: {
      ...{ slug, name: "Own desk", description: "A desk of our own, for tests of private toolkits under a rule." },
      ...{ version: "0.1.0", category: "communication", baseUrl, auth: [{ type: "none" }] },
    },
    tools: { remove },
  });
}
