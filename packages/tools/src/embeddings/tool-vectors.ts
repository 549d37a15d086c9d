import { createHash } from "node:crypto";
import type { ToolDefinition, Toolkit } from "@svc/catalog";
import type { Clock, ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import {
  claimToolVectors,
  keepToolVectors,
  readToolVectors,
  releaseToolVectors,
  type ToolVector,
  touchToolVectors,
} from "@svc/db/tool-vectors/repo";
import { indexOf } from "../search/toolkit-index.ts";
import type { EmbeddingsEndpoint, EmbeddingsTarget } from "./endpoint.ts";
import senselessTexts from "./senseless.json" with { type: "json" };
import { type Vector, vectorOf } from "./vectors.ts";

/** A text that a vector is asked for. `place`: of its tool in the index of the toolkit. */
export type ToolText = {
  readonly digest: string;
  readonly text: string;
  readonly place: number;
};

/** Characters that are sent of a tool at most: models read a few hundred words. */
const charactersMax = 2_000;

/** The texts of a toolkit's tools. Skills have none: what a person wrote there for somebody stays here. */
function toolTextsOf(toolkit: Toolkit, at: EmbeddingsTarget): ToolText[] {
  return indexOf(toolkit).tools.flatMap((tool, place) => {
    if (tool.kind !== "action") return [];
    const text = textOf(tool, toolkit);
    return [{ digest: digestOf(text, at, toolkit.ownerProjectId), text, place }];
  });
}

/** What a vector is kept by: another address or model has other vectors, and each project its own. */
function digestOf(text: string, { url, model }: EmbeddingsTarget, owner: ProjectId | ""): string {
  return createHash("sha256")
    .update(JSON.stringify([url, model, owner, text]))
    .digest("base64url");
}

function textOf(tool: ToolDefinition, toolkit: Toolkit): string {
  const name = tool.name.replaceAll("_", " ");
  const sayings = (toolkit.sayings?.get(tool.name) ?? []).map(firstChoices);
  const text = [`${toolkit.name}: ${name}.`, tool.description, ...tool.intents, ...sayings].join("\n");
  return text.slice(0, charactersMax).toWellFormed();
}

/** A saying with the first of each of its choices, as somebody would say it. */
function firstChoices(saying: string): string {
  return saying.replaceAll(/\(([^()|]*)[^()]*\)/g, "$1");
}

/** Texts asked for at once: an answer of more numbers would take longer than 10 ms to read. */
export const batchMax = 8;

const dayMs = 86_400_000;
/** How long a node has for the texts that it claimed: longer than the endpoint has to answer. */
const claimMs = 60_000;
/** Between two looks for what another node asks for. */
export const othersMs = 1_000;

/** Texts of one owner that are wanted together. */
type TextGroup = { readonly texts: readonly ToolText[]; readonly owner: Toolkit["ownerProjectId"] };

/** What one look came to: all are there, another node asks for the rest, or there is more to ask for. */
export type VectorLookup = { readonly found: ReadonlyMap<string, Vector>; readonly next: "done" | "others" | "more" };

/** What the vectors are had by. */
export type VectorStoreOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly endpoint: EmbeddingsEndpoint;
};

/** The texts of a toolkit as they are wanted. */
export function textsOfToolkit(toolkit: Toolkit, endpoint: EmbeddingsEndpoint): TextGroup {
  return { texts: toolTextsOf(toolkit, endpoint), owner: toolkit.ownerProjectId };
}

/** Texts that no tool fits: how near they come to tools tells what is not near. */
export function senselessTextGroup(endpoint: EmbeddingsEndpoint): TextGroup {
  const texts = senselessTexts.map((text, place) => ({ text, place, digest: digestOf(text, endpoint, "") }));
  return { texts, owner: "" };
}

/**
 * Reads the vectors of texts from the store, and asks the endpoint for the first of those that are not there, once between all nodes: what is asked
 * for is claimed before. Throws what the endpoint or the store failed with.
 */
export async function lookUpVectors(
  { db, clock, endpoint }: VectorStoreOptions,
  wanted: TextGroup,
): Promise<VectorLookup> {
  const projectId = wanted.owner === "" ? undefined : wanted.owner;
  const digests = [...new Set(wanted.texts.map(({ digest }) => digest))];
  const kept = digests.length === 0 ? [] : await readToolVectors(db, digests, projectId);
  const found = new Map(kept.map(({ digest, vector }) => [digest, vectorOf(new Int8Array(vector))]));
  await noteUse(db, kept, clock.now());
  const missing = wanted.texts.filter(({ digest }) => !found.has(digest)).slice(0, batchMax);
  if (missing.length === 0) return { found, next: "done" };
  const nowMs = clock.now();
  const keys = [...new Set(missing.map(({ digest }) => digest))].map((digest) => ({ digest, projectId }));
  const claimed = await claimToolVectors(db, keys, { nowMs, untilMs: nowMs + claimMs });
  const asked = [...new Map(missing.map((text) => [text.digest, text])).values()].filter(({ digest }) =>
    claimed.has(digest),
  );
  if (asked.length === 0) return { found, next: "others" };
  const vectors = await askFor(asked, { db, endpoint });
  await keepToolVectors(
    db,
    vectors.map(([digest, { parts }]) => ({
      digest,
      vector: new Uint8Array(parts.buffer, parts.byteOffset, parts.length),
    })),
    clock.now(),
  );
  return { found, next: "more" };
}

async function askFor(
  asked: readonly ToolText[],
  { db, endpoint }: Pick<VectorStoreOptions, "db" | "endpoint">,
): Promise<[string, Vector][]> {
  try {
    const vectors = await endpoint.embed(asked.map(({ text }) => text));
    return vectors.map((vector, place) => [asked[place]?.digest ?? "", vector]);
  } catch (error) {
    await releaseToolVectors(
      db,
      asked.map(({ digest }) => digest),
    );
    throw error;
  }
}

/** Vectors that are read are kept on. */
async function noteUse(db: Database, kept: readonly ToolVector[], nowMs: number): Promise<void> {
  const old = kept.filter(({ usedAt }) => usedAt < nowMs - dayMs).map(({ digest }) => digest);
  if (old.length > 0) await touchToolVectors(db, old, nowMs);
}
