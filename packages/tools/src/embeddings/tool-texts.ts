import { createHash } from "node:crypto";
import type { ToolDefinition, Toolkit } from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import { indexOf } from "../search/toolkit-index.ts";
import type { EmbeddingsPlace } from "./endpoint.ts";

/** A text that a vector is asked for. `place`: of its tool in the index of the toolkit. */
export type ToolText = {
  readonly digest: string;
  readonly text: string;
  readonly place: number;
};

/** Characters that are sent of a tool at most: models read a few hundred words. */
const charactersMax = 2_000;

/** The texts of a toolkit's tools. Skills have none: what a person wrote there for somebody stays here. */
export function toolTextsOf(toolkit: Toolkit, at: EmbeddingsPlace): ToolText[] {
  return indexOf(toolkit).tools.flatMap((tool, place) => {
    if (tool.kind !== "action") return [];
    const text = textOf(tool, toolkit);
    return [{ digest: digestOf(text, at, toolkit.ownerProjectId), text, place }];
  });
}

/** What a vector is kept by: another address or model has other vectors, and each project its own. */
export function digestOf(text: string, { url, model }: EmbeddingsPlace, owner: ProjectId | ""): string {
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
