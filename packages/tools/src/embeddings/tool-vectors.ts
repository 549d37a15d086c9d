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

/** The text of a tool that needs a search vector. `place`: position of the tool in the index of the app's tools. */
export type ToolText = {
  readonly digest: string;
  readonly text: string;
  readonly place: number;
};

/** Maximum characters that are sent for a tool. Embedding models read a few hundred words. */
const charactersMax = 2_000;

/**
 * Returns the texts of a toolkit's tools, from which search vectors are made. Skills are left out, because their texts must not leave svc.
 */
function toolTextsOf(toolkit: Toolkit, at: EmbeddingsTarget): ToolText[] {
  return indexOf(toolkit).tools.flatMap((tool, place) => {
    if (tool.kind !== "action") return [];
    const text = textOf(tool, toolkit);
    return [{ digest: digestOf(text, at, toolkit.ownerProjectId), text, place }];
  });
}

/**
 * Returns the key under which a vector is stored. The key is different for each endpoint address, model and project, because vectors of one
 * must not be used for another.
 */
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

/** Returns an example phrase of a tool, in which each choice such as `(show|list)` is replaced by its first alternative. */
function firstChoices(saying: string): string {
  return saying.replaceAll(/\(([^()|]*)[^()]*\)/g, "$1");
}

/** Maximum texts per request. If an answer contained more vectors, reading the answer would take longer than 10 ms. */
export const batchMax = 8;

const dayMs = 86_400_000;
/** Time for which only one node may request a text's vector (its claim), in milliseconds. It is longer than the endpoint's timeout. */
const claimMs = 60_000;
/** If another node is requesting a vector, this node checks at this interval if the vector is stored, in milliseconds. */
export const othersMs = 1_000;

/** Texts of one owner (a project or the shared catalog) for which vectors are looked up together. */
type TextGroup = { readonly texts: readonly ToolText[]; readonly owner: Toolkit["ownerProjectId"] };

/**
 * Result of looking up the vectors of texts. `found`: the vectors found so far. `next`: `done` if none is missing, `others` if other nodes
 * are requesting the missing vectors, `more` if this node must request more of them.
 */
export type VectorLookup = { readonly found: ReadonlyMap<string, Vector>; readonly next: "done" | "others" | "more" };

/** Objects that are needed to make, store and read the vectors of tools: the database, the clock and the embeddings endpoint. */
export type VectorStoreOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly endpoint: EmbeddingsEndpoint;
};

/**
 * Returns the texts that describe the tools of a toolkit (one app's tools and webhooks), for which vectors are needed. Also returns the
 * project that owns the toolkit.
 */
export function textsOfToolkit(toolkit: Toolkit, endpoint: EmbeddingsEndpoint): TextGroup {
  return { texts: toolTextsOf(toolkit, endpoint), owner: toolkit.ownerProjectId };
}

/**
 * Returns texts that have nothing to do with any tool. The search compares tools with them. A similarity that even these texts reach has no
 * meaning.
 */
export function senselessTextGroup(endpoint: EmbeddingsEndpoint): TextGroup {
  const texts = senselessTexts.map((text, place) => ({ text, place, digest: digestOf(text, endpoint, "") }));
  return { texts, owner: "" };
}

/**
 * Reads the vectors of texts from the database, and requests some of the missing ones from the endpoint. A reservation in the database
 * ensures that only one node requests a text. Returns the vectors found and what is still missing. Throws the errors of the endpoint and
 * the database.
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

/** Marks vectors in the database as used, so that they are not deleted. */
async function noteUse(db: Database, kept: readonly ToolVector[], nowMs: number): Promise<void> {
  const old = kept.filter(({ usedAt }) => usedAt < nowMs - dayMs).map(({ digest }) => digest);
  if (old.length > 0) await touchToolVectors(db, old, nowMs);
}
