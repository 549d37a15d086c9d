import { call, text } from "@svc/core";
import { type Path, pathOf } from "../json.ts";
import type { Program } from "../program.ts";
import { callsOf, type Step } from "../steps/index.ts";
import { secretsOf } from "../template.ts";
import type { AccountQuestion, Check, CheckContext } from "./context.ts";

/** Returns every secret that a program names, each once. */
export function secretNamesOf(program: Program): readonly string[] {
  return [...new Set(secretUsesOf(program).map(({ name }) => name))];
}

/** Returns the places where a program names secrets. */
export function secretUsesOf({ steps }: Program): { readonly path: Path; readonly name: string }[] {
  return callsOf(steps).flatMap(({ args, http, pointer }) =>
    secretsOf(args).map(({ name, path }) => {
      return { name, path: [...pathOf(pointer), http === undefined ? "args" : "http", ...path, "$secret"] };
    }),
  );
}

/** Returns every host of a program's requests, each once. */
export function hostsOf({ steps }: Program): readonly string[] {
  return [...new Set(callsOf(steps).flatMap(({ http }) => http?.host ?? []))];
}

/** Allowed hosts that a hint lists. */
const namedMax = 10;

/** Asks which hosts the project's requests may go to. Records every request to another host. */
export async function askHosts(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  if (hostsOf(program).length === 0) return;
  const allowed = await context.httpHosts();
  for (const { http, pointer } of callsOf(program.steps)) {
    if (http === undefined || allowed.has(http.host)) continue;
    const named = [...allowed].slice(0, namedMax).join(", ");
    const hint = text`have an administrator add it with ${call("SetProjectPolicy", { http: { hosts: [http.host] } })}, or call ${named === "" ? "another way: no host is on the list" : `one that is on it: ${named}`}`;
    const message = `${http.host} is not on the project's list of hosts`;
    faults.add("PROGRAM_HOST_NOT_ALLOWED", [...pathOf(pointer), "http", "url"], message, hint);
  }
}

/** Returns every contact that a program names, each once. */
export function principalsOf(program: Program): readonly string[] {
  return [...new Set(hopsOf(program).map(({ principal }) => principal))];
}

/** Asks if the contacts of questions exist, each once and all together. Records each missing one. */
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

/** Returns every contact that the program names. A hop that could not be read has an empty principal and already has its fault. */
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

/** Returns the program's questions about accounts, each once. */
export function accountQuestionsOf(
  steps: readonly Step[],
  check: Pick<Check, "view" | "actions">,
): readonly AccountQuestion[] {
  return [...new Map(neededBy(steps, check).map(({ question }) => [keyOf(question), question])).values()];
}

/** Asks if the accounts that calls need exist, each once and all together. Records each missing one. */
export async function askAccounts(
  steps: readonly Step[],
  { faults, view, actions }: Check,
  context: CheckContext,
): Promise<void> {
  const needed = neededBy(steps, { view, actions });
  if (needed.length === 0) return;
  const questions = new Map(needed.map(({ question }) => [keyOf(question), question]));
  const answers = await context.hasAccounts([...questions.values()]);
  const held = new Set([...questions.keys()].filter((_key, index) => answers[index] === true));
  for (const { path, question } of needed) {
    if (held.has(keyOf(question))) continue;
    const message = `entity ${question.entity} has no active account of ${question.toolkit.slug}`;
    faults.add(
      "PROGRAM_ACCOUNT_MISSING",
      path,
      message,
      text`connect one with ${call("InitiateConnection")}, or name another entity`,
    );
  }
}

function keyOf({ toolkit, entity }: AccountQuestion): string {
  return JSON.stringify([toolkit.slug, entity]);
}

type Need = { readonly path: Path; readonly question: AccountQuestion };

/** An undo with the account of its call needs nothing more. An entity that could not be read is "" and already has its fault. */
function neededBy(steps: readonly Step[], { view, actions }: Pick<Check, "view" | "actions">): Need[] {
  const toolkitOf = (tool: string) => view.toolkits.get(actions.get(tool)?.toolkitSlug ?? "");
  return callsOf(steps).flatMap((call) => {
    const { undo } = call;
    const isOwn = undo?.entity === call.entity && toolkitOf(undo.tool) === toolkitOf(call.tool);
    return [call, ...(undo === undefined || isOwn ? [] : [undo])].flatMap(({ tool, entity, pointer }) => {
      const toolkit = toolkitOf(tool);
      if (toolkit === undefined || entity === "") return [];
      return [{ path: [...pathOf(pointer), "entity"], question: { toolkit, entity } }];
    });
  });
}
