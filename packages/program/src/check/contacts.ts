import { call, text } from "@svc/core";
import { type Path, pathOf } from "../json.ts";
import type { Program } from "../program.ts";
import type { Check, CheckContext } from "./context.ts";

/** Every contact that a program names, each once. */
export function principalsOf(program: Program): readonly string[] {
  return [...new Set(hopsOf(program).map(({ principal }) => principal))];
}

/** Asks which of the contacts that questions go to are there, each once and all together. Records every one that is not. */
export async function askContacts(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  const hops = hopsOf(program);
  const principals = principalsOf(program);
  if (principals.length === 0) return;
  const answers = await context.hasContacts(principals);
  const known = new Set(principals.filter((_principal, index) => answers[index] === true));
  for (const { path, principal } of hops) {
    if (known.has(principal)) continue;
    const hint = text`${call("ListContacts")} lists those there are; ${call("PutContact")}, with an approver's key, makes one`;
    faults.add("PROGRAM_CONTACT_UNKNOWN", path, `there is no contact ${principal}`, hint);
  }
}

/** Everyone whom the program names. A hop that could not be read has an empty principal and its fault already. */
function hopsOf({ approval, points }: Program): { readonly path: Path; readonly principal: string }[] {
  const ladders = [
    { path: ["approval"], principals: approval.escalation },
    ...[...points.values()].map(({ pointer, escalation }) => {
      return { path: pathOf(pointer), principals: escalation.map(({ principal }) => principal) };
    }),
  ];
  return ladders.flatMap(({ path, principals }) =>
    principals.flatMap((principal, index) => {
      return principal === "" ? [] : [{ path: [...path, "escalation", index, "principal"], principal }];
    }),
  );
}
