import type { Answers, ProgramWorld, Ran } from "./program-world.ts";
import type { Proof, Proofs } from "./proof.ts";

/** A proof that changes a program. */
export type ProgramProof = Proof<ProgramWorld>;
/** Proofs that change programs, by the name of the field. */
export type ProgramProofs = Proofs<ProgramWorld>;
type Shows = ProgramProof["shows"];

/** Shows what `pick` takes from a run. For a refused program, shows the reasons. */
export function ran(pick: (ran: Ran) => unknown, answers?: Answers): Shows {
  return async (world, program) => {
    const { faults } = await world.check(program);
    return faults.length > 0 ? faults : pick(await once(world, program, answers));
  };
}

const known = new WeakMap<ProgramWorld, Map<string, Promise<Ran>>>();

/** Runs a program at the first request for its run, and keeps the run, because many proofs use the same program. */
function once(world: ProgramWorld, program: object, answers: Answers | undefined): Promise<Ran> {
  const runs = known.get(world) ?? new Map<string, Promise<Ran>>();
  known.set(world, runs);
  const text = JSON.stringify([program, answers]);
  const run = runs.get(text) ?? world.run(program, answers);
  runs.set(text, run);
  return run;
}

/** Shows what `pick` takes from the answer of CheckProgram. */
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
export function checked(pick: (checked: any) => unknown): Shows {
  return async (world, program) => pick(await world.check(program));
}

/** Shows the reasons for which a program is refused. */
export const faults = checked((answer) => answer.faults);
/** Shows the result that the program declares. */
export const result = ran(({ result: value }) => value);
/** Shows the requests that the app received, each by its method, path and query. The parameters of a query are sorted by name. */
export const requests = ran(({ sent }) =>
  sent.map(
    ({ method, path, query }) => `${method} ${path}${query && `?${query.slice(1).split("&").sort().join("&")}`}`,
  ),
);
/** Shows the bodies of the writes that the app received. */
export const bodies = ran(({ sent }) => sent.flatMap(({ body }) => (body === undefined ? [] : [body])));
/** Shows the times of the requests, in seconds since the program was submitted. */
export const times = ran(({ sent }) => sent.map(({ atMs }) => atMs / 1000));
/** Shows the job's final status and its error. */
export const ending = ran(({ job }) => [job.status.replace("JOB_STATUS_", ""), (job.lastError ?? "").split(":")[0]]);

/** A step that sends a note. */
export const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "hello" } };
/** A step that reads the four items as rows. */
export const items = {
  ...{ id: "items", call: "desk.list_items", entity: "ops", args: {} },
  rows: { from: "items[]", key: "id", keep: ["id", "n", "half", "tags", "owner"] },
};
/** A map that reads each item. The second item does not exist, so its row fails. */
export const looked = {
  ...{ id: "looked", map: "items", tolerate: { count: 4 } },
  do: [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "row.id" } } }],
};
/** A judgment point that asks the owner. */
export const point = { question: "Go on?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] };
/** Returns the address of a path of the host that requests may go to. */
export const urlOf = (path: string) => `https://api.example.com${path}`;
