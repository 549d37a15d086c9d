import { type Action, type CatalogView, faultsOfPoll, type JsonSchema } from "@svc/catalog";
import { type Binding, type FaultText, formatValue, isObject, type JsonObject, type ProjectId } from "@svc/core";
import type { JobStarter } from "@svc/jobs";
import type { StandingFaults } from "../definition/faults.ts";
import { foundBy, type Poll, rowTypeOf } from "./definition.ts";

/** Dependencies of the function that checks the poll in a schedule's definition. */
export type PollCheck = {
  readonly starter: Pick<JobStarter, "checkRead">;
  readonly projectId: ProjectId;
  readonly binding: Binding | null;
  readonly view: CatalogView;
  readonly faults: StandingFaults;
};

const at = ["source", "poll"] as const;

/**
 * Checks a poll against the tools and accounts of the project, and records every fault. The poll's call is checked like a call of a
 * program. The paths of its rows and its cursor are checked against the schemas of the tool.
 */
export async function checkPoll(poll: Poll, { starter, projectId, binding, view, faults }: PollCheck): Promise<void> {
  const add = (path: readonly (string | number)[], message: string, hint: FaultText) =>
    faults.add("POLL_INVALID", [...at, ...path], message, hint);
  const tool = view.tools.get(poll.call);
  const action = tool?.kind === "action" ? tool : undefined;
  if (action !== undefined && action.class !== "read") {
    add(
      ["call"],
      `is of class ${action.class}, but only class read can be polled`,
      "name a tool of class read that returns a list",
    );
    return;
  }
  // The definition need not contain the cursor's arguments, because svc sets them at each poll.
  const cursor = action && foundBy(poll, action).cursor;
  const given = cursor === undefined ? [] : givenByCursor(cursor);
  const sorted = cursor?.kind === "newest" && isObject(cursor.args) ? (cursor.args as JsonObject) : {};
  const args: JsonObject = { ...sorted, ...poll.args };
  const { call, entity } = poll;
  for (const { path, message, hint } of await starter.checkRead({ projectId, binding, call, entity, args })) {
    if (path[0] === "args" && !Object.hasOwn(poll.args, String(path[1] ?? "")) && path.length > 1) continue;
    add(path, message, hint);
  }
  if (action === undefined) return;
  for (const name of given) {
    if (!Object.hasOwn(poll.args, name)) continue;
    add(["args", name], "is set by the cursor at each poll", `leave args.${name} out, or write another cursor`);
  }
  const paged = action.paging?.arg;
  if (paged !== undefined && Object.hasOwn(poll.args, paged)) {
    add(["args", paged], "selects the next page", `leave args.${paged} out: a poll reads all pages`);
  }
  checkFound(poll, action, add);
}

type AddFault = (path: readonly (string | number)[], message: string, hint: FaultText) => void;

function checkFound(poll: Poll, action: Action, add: AddFault): void {
  const { rows, id, size, cursor } = foundBy(poll, action);
  const missing = Object.entries({ rows, id, cursor }).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (rows === undefined || id === undefined || cursor === undefined) {
    const message = `does not say how to find rows, and ${action.slug} declares no poll: ${missing.join(", ")}`;
    add([], message, 'write {"rows": "items[]", "id": "id", "cursor": {"kind": "seen"}} next to call');
    return;
  }
  const input = action.inputSchema;
  const polled = { rows, id, cursor, ...(size !== undefined && { size }) };
  const found = { poll: polled, class: action.class, input, output: action.outputSchema };
  const paging = action.paging && { paging: action.paging };
  for (const [[, ...path], reason, cure] of faultsOfPoll({ ...found, ...paging })) add(path, reason, cure);
  if (poll.on === "changed") checkChanged(poll, action, add);
  checkKept(poll, action, add);
}

function checkChanged({ cursor }: Poll, { poll: declared, slug }: Action, add: AddFault): void {
  const kind = cursor?.kind ?? declared?.changed?.kind ?? declared?.cursor.kind;
  const isOwn = cursor !== undefined || declared?.changed !== undefined;
  if (kind === "seen" || (isOwn && kind !== "newest")) return;
  const message = `looks for rows that changed, but ${isOwn ? "newest" : `what ${slug} declares`} finds only new ones`;
  add(["on"], message, 'add "cursor": {"kind": "seen"}, which compares all rows at each poll');
}

function checkKept(poll: Poll, action: Action, add: AddFault): void {
  const all: JsonSchema | undefined = rowTypeOf({ ...poll, keep: undefined }, action);
  const known = all !== undefined && isObject(all.properties) ? Object.keys(all.properties) : undefined;
  for (const [index, name] of (poll.keep ?? []).entries()) {
    if (known === undefined || known.includes(name)) continue;
    add(["keep", index], `${formatValue(name)} is not a field of a row`, `name one of ${known.join(", ")}`);
  }
}

function givenByCursor({ kind, arg, args }: { kind: string; arg?: string; args?: object }): string[] {
  if (kind === "newest") return Object.keys(args ?? {});
  return arg === undefined ? [] : [arg];
}
