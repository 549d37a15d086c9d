import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type ProjectId, systemClock } from "@svc/core";
import { createProject } from "@svc/db/projects/repo";
import { CatalogService } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { serveHttp } from "@svc/testing/http";
import { createTestNode } from "@svc/testing/node";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import type { EmbeddingsCall } from "./observer.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** Directions of words. Words with the same meaning have the same direction, and every other word has its own. */
const meanings: ReadonlyMap<string, number> = new Map(
  ["order parcel purchase consignment cargo", "refund reimburse chargeback restitution"].flatMap((group, at) =>
    group.split(" ").map((word) => [word, at] as const),
  ),
);
const size = 512;

function vectorOf(text: string): number[] {
  const vector = Array.from({ length: size }, () => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? ["none"]) {
    const meant = meanings.get(word);
    const at = meant ?? 8 + (createHash("md5").update(word).digest().readUInt16BE() % (size - 8));
    vector[at] = (vector[at] ?? 0) + (meant === undefined ? 1 : 10);
  }
  return vector;
}

type Way = "well" | "never" | "failing" | "short" | "huge" | "nonsense";

/** Starts an embeddings endpoint that records its requests. */
async function serveEmbeddings() {
  const state = {
    ...{ way: "well" as Way, sent: [] as string[], keys: new Set<string | undefined>() },
    /** Texts that start with `torpid` are answered only after this promise has resolved. */
    slow: Promise.resolve(),
  };
  const place = await serveHttp(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { input, model } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[]; model: string };
    expect(model).toBe("bag");
    state.sent.push(...input);
    state.keys.add(request.headers.authorization);
    if (state.way === "never") return;
    // The text of one caller can make the whole request fail.
    if (input.some((text) => text.includes("venom"))) return void response.writeHead(400).end("{}");
    if (input.some((text) => text.startsWith("torpid"))) await state.slow;
    if (state.way === "failing") return void response.writeHead(500).end("{}");
    if (state.way === "nonsense") return void response.end('{"data":[{"embedding":["1","2"]}]}');
    if (state.way === "huge") {
      // Sends data as long as the client reads. A client without a limit would read forever.
      const more = () => response.write("[".repeat(65_536)) || true;
      while (!response.destroyed && more()) await wait(1);
      return;
    }
    const cut = state.way === "short" ? 3 : size;
    const data = input.map((text, index) => ({ index, embedding: [1, ...vectorOf(text).slice(1, cut)] }));
    if (state.way === "well")
      for (const [index, text] of input.entries()) Object.assign(data[index] ?? {}, { embedding: vectorOf(text) });
    response.end(JSON.stringify({ data: data.reverse() }));
  });
  return { ...place, state, url: `${place.url}/v1/embeddings` };
}

function startNode(url: string, ranges = { endpoints: [], apps: ["127.0.0.0/8"] }, clock = systemClock) {
  return createTestNode(db, {
    clock,
    catalog: catalogOf({ toolkits: Object.values(sampleToolkits) }),
    embeddings: { url, model: "bag" },
    variable: (name) => (name === "SVC_EMBEDDINGS_KEY" ? "sk-planted" : undefined),
    ranges,
  });
}

type TestNode = ReturnType<typeof startNode>;

let projects = 0;
const addProject = async () => (await createProject(db, `embeddings-${projects++}`, systemClock.now())).id;

async function publishShop(node: TestNode, projectId: ProjectId, description: string, slug = "shop"): Promise<void> {
  const tool = {
    ...{
      kind: "action",
      class: "read",
      description,
      intents: ["where is my parcel", "what did they buy", "the purchase"],
    },
    input: {
      type: "object",
      additionalProperties: false,
      required: ["id"],
      properties: { id: { type: "string", description: "Id of the order." } },
    },
    output: { type: "object", properties: { id: { type: "string" } } },
    request: { method: "GET", path: "/orders/{{params.id}}" },
  };
  const definition = JSON.stringify({
    toolkit: {
      ...{ slug, name: "Shop", description: "Orders of a shop of our own, for tests.", version: "0.1.0" },
      ...{ category: "sales", baseUrl: "https://shop.example.com/api" },
      auth: [{ type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" }],
    },
    tools: { read_order: tool },
  });
  await node.client(CatalogService, { projectId, role: "approver" }).publishToolkit({ definitionJson: definition });
}

const text = "Reads one order of the shop with its lines and its state of payment.";

async function search(node: TestNode, projectId: ProjectId, query: string): Promise<string[]> {
  const client = node.client(ToolsService, { projectId, role: "member" });
  return (await client.searchTools({ query })).results.map(({ tool }) => tool?.slug ?? "");
}

/** Resolves when a search finds a tool that a search by words alone does not find. */
const untilFound = (node: TestNode, projectId: ProjectId) =>
  until(async () => (await search(node, projectId, "consignment")).includes("shop.read_order"));

test("meaning finds what words do not, finds nothing for nonsense, and a restart requests no tool text again", async () => {
  await using endpoint = await serveEmbeddings();
  const projectId = await addProject();
  const other = await addProject();
  {
    await using words = createTestNode(db, { clock: systemClock });
    await publishShop(words as TestNode, projectId, text);
    expect(await search(words as TestNode, projectId, "consignment")).toEqual([]);
  }
  {
    await using node = startNode(endpoint.url);
    await untilFound(node, projectId);
    expect(await search(node, projectId, "glimmering snarfblat")).toEqual([]);
    expect(await search(node, projectId, "consignment for ada@example.com")).toContain("shop.read_order");
    // A tool of one project is neither found by another project nor sent to the endpoint for it.
    expect(await search(node, other, "consignment cargo")).not.toContain("shop.read_order");
  }
  const { sent, keys } = endpoint.state;
  expect(keys).toEqual(new Set(["Bearer sk-planted"]));
  expect(sent.filter((sentText) => sentText.includes("ada@"))).toEqual([]);
  expect(sent.filter((sentText) => sentText.includes(text))).toHaveLength(1);
  expect(new Set(sent).size).toBe(sent.length);
  sent.length = 0;
  await using again = startNode(endpoint.url);
  await using second = startNode(endpoint.url);
  await Promise.all([untilFound(again, projectId), untilFound(second, projectId)]);
  expect(sent.filter((sentText) => sentText !== "consignment")).toEqual([]);
});

test("two projects with the same private toolkit have vectors of their own, and two nodes ask for each text once", async () => {
  await using endpoint = await serveEmbeddings();
  const projectIds = [await addProject(), await addProject()];
  await using node = startNode(endpoint.url);
  await using second = startNode(endpoint.url);
  for (const projectId of projectIds) await publishShop(node, projectId, `${text} Of both.`);
  await Promise.all(projectIds.flatMap((projectId) => [untilFound(node, projectId), untilFound(second, projectId)]));
  expect(endpoint.state.sent.filter((sentText) => sentText.includes("Of both."))).toHaveLength(2);
});

test.each<[Way, string, EmbeddingsCall["outcome"]]>([
  ["never", "did not answer within 300 ms", "late"],
  ["failing", "answered with status 500", "refused"],
  ["huge", "answered with more bytes", "malformed"],
  ["nonsense", "answered without a vector", "malformed"],
])("an endpoint that is %s costs a search 300 ms at most, and the next ones nothing", async (way, why, outcome) => {
  await using endpoint = await serveEmbeddings();
  const projectId = await addProject();
  await using node = startNode(endpoint.url);
  await publishShop(node, projectId, text);
  await untilFound(node, projectId);
  endpoint.state.way = way;
  endpoint.state.sent.length = 0;
  const startedAt = performance.now();
  expect(await search(node, projectId, "read the order")).toContain("shop.read_order");
  // The endpoint never answers. The rest of the time is a search by words, on a busy machine.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  const tripped = () => node.told.failures.filter(({ what }) => what === "embeddings of search");
  // The node reports a failure after the search, which waits no longer for the endpoint.
  await until(() => tripped().length > 0);
  expect(
    tripped()
      .map(({ error }) => (error as Error).message)
      .join(),
  ).toMatch(way === "huge" ? /within 300 ms|more bytes/ : why);
  for (let at = 0; at < 20; at++) await search(node, projectId, `read the order ${at}`);
  expect(endpoint.state.sent).toHaveLength(1);
  expect(tripped()).toHaveLength(1);
  const calls = () => node.told.embedded.filter(({ what }) => what === "search").slice(-1);
  // The request to the endpoint may last longer than the search waits for it.
  await until(() => calls()[0]?.outcome !== "ok");
  expect(calls()).toEqual([expect.objectContaining({ outcome })]);
  const [first, ...next] = node.told.searches.slice(-21);
  expect([way === "never" ? "late" : "failed", "late"]).toContain(first);
  expect(new Set(next)).toEqual(new Set(["paused"]));
});

test("a flooding project, and one whose words the endpoint refuses, search by words, while another's search gets its vector at once", async () => {
  await using endpoint = await serveEmbeddings();
  // Waits are longer here than any delay of a busy machine, so that only slots can be scarce.
  const patient: typeof systemClock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms * 100, signal) };
  await using node = startNode(endpoint.url, undefined, patient);
  const [hostile, poisoner, quiet] = [await addProject(), await addProject(), await addProject()];
  await publishShop(node, quiet, text);
  await untilFound(node, quiet);
  const answered = Promise.withResolvers<void>();
  endpoint.state.slow = answered.promise;
  // The number is written in letters, because the search does not treat digits as words.
  const wordOf = (at: number) => [...String(at)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const flood = Array.from({ length: 100 }, (_, at) => search(node, hostile, `torpid message ${wordOf(at)}`));
  const slow = () => endpoint.state.sent.filter((sentText) => sentText.startsWith("torpid")).length;
  await until(() => slow() === 8 && node.told.searches.filter((outcome) => outcome === "crowded").length === 92);
  await search(node, poisoner, "venom");
  await search(node, poisoner, "more of it");
  expect(node.told.searches.slice(-2)).toEqual(["failed", "paused"]);
  expect(await search(node, quiet, "cargo")).toContain("shop.read_order");
  expect(node.told.searches.at(-1)).toBe("asked");
  answered.resolve();
  await Promise.all(flood);
  expect(slow()).toBe(8);
  // The slots of the project that sent too much are free again.
  await search(node, hostile, "another message");
  expect(node.told.searches.at(-1)).toBe("asked");
});

test("toolkits whose texts the endpoint refuses do not delay others", async () => {
  await using endpoint = await serveEmbeddings();
  await using node = startNode(endpoint.url);
  const [hostile, quiet] = [await addProject(), await addProject()];
  for (const at of "abcdef") await publishShop(node, hostile, `${text} With venom.`, `shop_${at}`);
  const refusals = () => node.told.embedded.filter(({ outcome }) => outcome === "refused").length;
  await until(async () => {
    await search(node, hostile, "consignment");
    return refusals() > 0;
  });
  await publishShop(node, quiet, text);
  await untilFound(node, quiet);
  // After the first failure, the owner's requests pause, for a longer time after each failure.
  expect(refusals()).toBeLessThan(6);
});

test("vectors of another size than those of tools leave the words as they are", async () => {
  await using endpoint = await serveEmbeddings();
  const projectId = await addProject();
  await using node = startNode(endpoint.url);
  await publishShop(node, projectId, text);
  await untilFound(node, projectId);
  endpoint.state.way = "short";
  expect(await search(node, projectId, "cargo")).toEqual([]);
  expect(await search(node, projectId, "read an order")).toContain("shop.read_order");
});

test("the vault's key is sent if the environment has none, and no key if it cannot be decrypted", async () => {
  await using endpoint = await serveEmbeddings();
  const projectId = await addProject();
  let inEnvironment: string | undefined;
  // The key is stored by another node, because a node sends texts of other projects as soon as it starts.
  await using keeper = createTestNode(db, { clock: systemClock });
  await keeper.deploymentSecrets.put("embeddings_key", "sk-of-the-vault");
  await using node = createTestNode(db, {
    ...{ clock: systemClock, embeddings: { url: endpoint.url, model: "bag" } },
    variable: () => inEnvironment,
  });
  await publishShop(node, projectId, text);
  await untilFound(node, projectId);
  expect(endpoint.state.keys).toEqual(new Set(["Bearer sk-of-the-vault"]));
  endpoint.state.keys.clear();
  await node.deploymentSecrets.put("embeddings_key", "sk-of-today");
  await search(node, projectId, "cargo");
  inEnvironment = "sk-of-the-environment";
  await search(node, projectId, "chargeback");
  expect([...endpoint.state.keys]).toEqual(["Bearer sk-of-today", "Bearer sk-of-the-environment"]);
  inEnvironment = "";
  await node.deploymentSecrets.delete("embeddings_key");
  await search(node, projectId, "restitution");
  expect([...endpoint.state.keys].at(-1)).toBeUndefined();
  await node.deploymentSecrets.put("embeddings_key", "sk-in-vain");
  await db.sql`update deployment_secrets set value = ${Buffer.from("sealed elsewhere")}`;
  await search(node, projectId, "purchase");
  expect(node.told.embedded.at(-1)).toMatchObject({ what: "search", outcome: "unkeyed" });
  expect(endpoint.state.sent).not.toContain("purchase");
});

test("an endpoint at an address that tool calls may not dial is sent nothing", async () => {
  await using endpoint = await serveEmbeddings();
  await using node = startNode(endpoint.url, { endpoints: [], apps: [] });
  await until(() => node.told.failures.some(({ what }) => what === "embeddings of tools"));
  expect(endpoint.state.sent).toEqual([]);
});
