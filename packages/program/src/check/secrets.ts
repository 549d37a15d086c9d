import { call, text } from "@svc/core";
import { type Path, pathOf } from "../json.ts";
import type { Program } from "../program.ts";
import { callsOf } from "../steps/index.ts";
import { secretsOf } from "../template.ts";
import type { Check, CheckContext } from "./context.ts";

/** Every secret that a program names, each once. */
export function secretNamesOf(program: Program): readonly string[] {
  return [...new Set(secretUsesOf(program).map(({ name }) => name))];
}

/** Asks which of the secrets that requests and calls carry are there, each once and all together. Records every one that is not. */
export async function askSecrets(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  const names = secretNamesOf(program);
  if (names.length === 0) return;
  const answers = await context.hasSecrets(names);
  const known = new Set(names.filter((_name, index) => answers[index] === true));
  for (const { path, name } of secretUsesOf(program)) {
    if (known.has(name)) continue;
    const hint = text`an approver keeps it with ${call("PutSecret", { name })}; ${call("ListSecrets")} lists those there are`;
    faults.add("PROGRAM_SECRET_UNKNOWN", path, `the project has no secret ${name}`, hint);
  }
}

/** Where a program names secrets. */
export function secretUsesOf({ steps }: Program): { readonly path: Path; readonly name: string }[] {
  return callsOf(steps).flatMap(({ args, http, pointer }) =>
    secretsOf(args).map(({ name, path }) => {
      return { name, path: [...pathOf(pointer), http === undefined ? "args" : "http", ...path, "$secret"] };
    }),
  );
}
