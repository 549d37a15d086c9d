import { createWorld, type Scripted, type SeenRequest } from "@svc/testing/desk";
import type { PendingAct } from "../drive.ts";
import type { EngineCaller, EngineUnderTest } from "../engine-under-test.ts";
import type { Answer, Standing } from "../history.ts";
import type { Scenario, ScenarioContact } from "../record-history.ts";
import { deskCatalog } from "../worlds.ts";

/** A program over the desk, and what happens to it. */
export type DeskRun = {
  readonly name: string;
  readonly shows: string;
  readonly program: object;
  /** Submitted with these beside the program. */
  readonly options?: { readonly mode?: string; readonly simulateFirst?: boolean };
  readonly items?: number;
  readonly pageSize?: number;
  /** Answers by path what is not the usual: the answers of each path in their order, the last of them again and again. */
  readonly answers?: Readonly<Record<string, readonly (Scripted | "usual")[]>>;
  readonly contacts?: readonly ScenarioContact[];
  readonly acts?: readonly PendingAct[];
  readonly prepare?: Scenario["prepare"];
  readonly submit?: Scenario["submit"];
  readonly startsAfterMs?: number;
};

/** A scenario whose apps are the desk. */
export function deskScenario({
  items = 6,
  pageSize = 1_000,
  answers = {},
  acts = [],
  contacts = [],
  ...run
}: DeskRun): Scenario {
  const { prepare, submit, program, startsAfterMs, options = {} } = run;
  return {
    name: run.name,
    shows: run.shows,
    catalog: deskCatalog,
    transport() {
      const world = createWorld({ items, pageSize });
      world.script = scriptOf(answers);
      return world.transport;
    },
    accounts: [{ toolkitSlug: "desk", entityId: "ops", credential: { scheme: "none" } }],
    contacts,
    acts,
    ...(prepare && { prepare }),
    ...(startsAfterMs !== undefined && { startsAfterMs }),
    submit: submit ?? ((engine, caller) => submitProgram(engine, caller, { title: run.name, ...program }, options)),
  };
}

/** Submits a program and answers the job's id. */
export async function submitProgram(
  engine: EngineUnderTest,
  caller: EngineCaller,
  program: object,
  options: NonNullable<DeskRun["options"]> = {},
): Promise<string> {
  const programJson = JSON.stringify({ version: 1, ...program });
  const { job } = await engine.jobs(caller).submitJob({ programJson, ...options });
  if (job === undefined) throw new Error("the submission was not answered");
  return job.id;
}

/** What of a request picks its answers: method and path, with the text of a note or the token of a page. */
function placeOf({ method, path, query, body }: SeenRequest): string {
  const page = query.get("page");
  const detail = typeof body["text"] === "string" ? ` ${body["text"]}` : page === null ? "" : ` ${page}`;
  return `${method} ${path}${detail}`;
}

function scriptOf(answers: NonNullable<DeskRun["answers"]>): (request: SeenRequest) => Scripted | undefined {
  const counts = new Map<string, number>();
  return (request) => {
    const place = placeOf(request);
    const listed = answers[place] ?? answers[`${request.method} ${request.path}`];
    const count = counts.get(place) ?? 0;
    counts.set(place, count + 1);
    const answer = listed?.[Math.min(count, listed.length - 1)];
    return answer === "usual" ? undefined : answer;
  };
}

/** An answer by `owner` once the job stands so. */
export function answers(
  when: Standing,
  continuation: string,
  rest: Partial<Answer> & { refusal?: string } = {},
): PendingAct {
  const { refusal, ...given } = rest;
  const answer = { principalId: "owner", continuation, ...given };
  return { when, does: { kind: "answer", answer, ...(refusal !== undefined && { refusal }) } };
}

/** A request to cancel, in a standing, or while an app has a request of a tool; `before`: so many of it come first. */
export function cancels(
  when: Standing | { readonly tool: string; readonly before?: number } | "submitted",
): PendingAct {
  const does = { kind: "cancel" } as const;
  if (when === "submitted") return { when: { request: -1 }, does };
  if (!("tool" in when)) return { when, does };
  let left = when.before ?? 0;
  return { when: ({ tool }) => tool === when.tool && left-- === 0, does };
}

/** A step that reads item `id`. */
export const getItem = (id: string, changes: object = {}) => ({
  id,
  call: "desk.get_item",
  entity: "ops",
  args: { id },
  ...changes,
});

/** A step that sends a note, which cannot be repeated. */
export const sendNote = (id: string, changes: object = {}) => ({
  id,
  call: "desk.send_note",
  entity: "ops",
  args: { text: id },
  ...changes,
});

/** A step that sends a note under a key of the app's. */
export const sendKeyed = (id: string, changes: object = {}) => ({ ...sendNote(id, changes), call: "desk.send_keyed" });

/** A step that takes the items of the desk as rows. */
export const listItems = (changes: object = {}) => ({
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { arg: "page", from: "next", max: 40 } },
  ...changes,
});

/** A map over the items that sends a note for each. */
export const sendEach = (changes: object = {}) => ({
  id: "each",
  map: "items",
  concurrency: 2,
  do: [sendNote("note", { args: { text: { $ref: "row.id" } } })],
  ...changes,
});

/** A step with two branches. */
export const branch = (id: string, condition: string, whenTrue: readonly object[], whenFalse?: readonly object[]) => ({
  id,
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: that is what programs call it
  then: whenTrue,
  ...(whenFalse && { else: whenFalse }),
});

/** What takes a note back. */
export const undo = {
  undo: { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } },
};

/** A point that asks `owner`. */
export const point = (changes: object = {}) => ({
  question: "Go on?",
  continuations: ["proceed", "abort"],
  escalation: [{ principal: "owner" }],
  ...changes,
});
