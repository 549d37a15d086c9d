import { call, text } from "@svc/core";
import { type Path, pathOf } from "../json.ts";
import type { Program } from "../program.ts";
import { callsOf, type Step } from "../steps/index.ts";
import { secretsOf } from "../template.ts";
import type { AccountQuestion, Check, CheckContext } from "./context.ts";

/** Returns the names of all secrets in a program, without duplicates. */
export function secretNamesOf(program: Program): readonly string[] {
  return [...new Set(secretUsesOf(program).map(({ name }) => name))];
}

/** Returns every place at which the program uses a secret. `path`: path of the place in the program. `name`: name of the secret. */
export function secretUsesOf({ steps }: Program): { readonly path: Path; readonly name: string }[] {
  return callsOf(steps).flatMap(({ args, http, pointer }) =>
    secretsOf(args).map(({ name, path }) => {
      return { name, path: [...pathOf(pointer), http === undefined ? "args" : "http", ...path, "$secret"] };
    }),
  );
}

/** Returns the hosts of all HTTP requests in a program, without duplicates. */
export function hostsOf({ steps }: Program): readonly string[] {
  return [...new Set(callsOf(steps).flatMap(({ http }) => http?.host ?? []))];
}

/** Maximum number of allowed hosts that a hint names. */
const namedMax = 10;

/** Reads which hosts the project allows, and records a fault for each HTTP request of the program to a host that is not allowed. */
export async function askHosts(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  if (hostsOf(program).length === 0) return;
  const allowed = await context.httpHosts();
  for (const { http, pointer } of callsOf(program.steps)) {
    if (http === undefined || allowed.has(http.host)) continue;
    const named = [...allowed].slice(0, namedMax).join(", ");
    const hint = text`have an administrator add it with ${call("SetProjectPolicy", { http: { hosts: [http.host] } })}, or call ${named === "" ? "another host: the list is empty" : `a host on the list: ${named}`}`;
    const message = `${http.host} is not on the project's list of hosts`;
    faults.add("PROGRAM_HOST_NOT_ALLOWED", [...pathOf(pointer), "http", "url"], message, hint);
  }
}

/** Returns all contacts that a program names, without duplicates. */
export function principalsOf(program: Program): readonly string[] {
  return [...new Set(hopsOf(program).map(({ principal }) => principal))];
}

/** Finds out with one lookup which of the program's contacts exist, and records a fault for each missing contact. */
export async function askContacts(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  const hops = hopsOf(program);
  const principals = principalsOf(program);
  if (principals.length === 0) return;
  const answers = await context.hasContacts(principals);
  const known = new Set(principals.filter((_principal, index) => answers[index] === true));
  for (const { path, principal } of hops) {
    if (known.has(principal)) continue;
    const hint = text`${call("ListContacts")} lists the existing ones; ${call("PutContact")}, with an approver's key, creates one`;
    faults.add("PROGRAM_CONTACT_UNKNOWN", path, `there is no contact ${principal}`, hint);
  }
}

/**
 * Returns each contact that the program names, with its path. If a hop (stage of an escalation) could not be read, its contact is empty and
 * its fault is already recorded.
 */
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

/**
 * Returns the questions about accounts that the check of the program must answer: does an entity have an active account of a toolkit? Each
 * question is returned once.
 */
export function accountQuestionsOf(
  steps: readonly Step[],
  check: Pick<Check, "view" | "actions">,
): readonly AccountQuestion[] {
  return [...new Map(neededBy(steps, check).map(({ question }) => [keyOf(question), question])).values()];
}

/**
 * Checks if the accounts that the program's calls need exist, with one call of `hasAccounts`. Records an error for each missing account.
 */
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

/**
 * Returns the connected accounts that the calls of the steps need. An undo call adds an account only if its account differs from that of
 * the call that it undoes. A call with an empty entity (customer or user) adds no account, because an earlier check has already recorded
 * this fault.
 */
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
