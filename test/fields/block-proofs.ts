import { handled } from "./call-proofs.ts";
import { note, type ProgramProof, type ProgramProofs, point, ran, times } from "./program-proofs.ts";
import { under } from "./proof.ts";

const say = (text: string, id = text) => ({ ...note, id, args: { text } });
const down = { id: "fails", call: "desk.get_item", entity: "ops", args: { id: "down" } };
const said = ran(({ sent }) => sent.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(body).text])));
type Gives = readonly [unknown, unknown];

/** Returns the proofs of a program with one step. */
function of(step: object, more: object = {}, behind: readonly object[] = []) {
  return (field: string, other: unknown, gives: Gives, shows = said): ProgramProof => {
    return { of: { ...more, steps: [step, ...behind] }, at: `/steps/0/${field}`, other, shows, gives };
  };
}

// biome-ignore lint/suspicious/noThenProperty: a field of programs
const choice = of({ id: "it", if: "params.go", then: [say("yes")], else: [say("no")] }, { params: { go: true } });
// biome-ignore lint/suspicious/noThenProperty: a field of programs
const elseways = of({ id: "it", if: "params.go", then: [say("yes")], else: [say("no")] }, { params: { go: false } });
const branches = of({ id: "it", parallel: { one: [say("a")], two: [say("b")] } });
const rounds = of({ id: "it", until: "false", do: [say("again")], max: 4, every: "10s", factor: 3, cap: "40s" });
const waits = of({ id: "it", wait: "10m" });
const until = of({ id: "it", wait: { until: "2026-01-07T00:00:00Z" } }, { limits: { deadline: "30d" } });
const failing = of({ id: "it", fail: "Too many", pause: true });
const points = { sure: { ...point, question: "Sure?" }, other: { ...point, question: "Other?" } };

/** A point that no step asks is refused. */
const unasked = ["sure", "other"].map((judge) => ({ id: `if_${judge}`, judge, when: "false" }));

const seconds = ran(({ job }) => (Date.parse(job.finishedAt) - Date.parse(job.createdAt)) / 1000);
const finished = ran(({ job }) => job.finishedAt);
const question = ran(({ job }) => job.park?.judgment?.question);
const error = ran(({ job }) => [job.status.replace("JOB_STATUS_", ""), job.lastError]);
/** Shows the reason for which a standing program is paused after it has run the program once. */
const paused: ProgramProof["shows"] = (world, program) => world.pauseReason(program);

/** Proofs for every field of the steps that hold other steps, wait, ask or fail, except `id` and `when`. */
export const blockProofs: ProgramProofs = {
  ...under("if", {
    if: choice("if", "!params.go", [["yes"], ["no"]]),
    // biome-ignore lint/suspicious/noThenProperty: a field of programs
    then: choice("then", [say("sure")], [["yes"], ["sure"]]),
    else: elseways("else", undefined, [["no"], []]),
    // biome-ignore lint/suspicious/noThenProperty: a field of programs
    ...handled({ id: "it", if: "true", then: [down] }),
  }),
  ...under("parallel", {
    parallel: branches("parallel", { one: [say("a")], two: [say("c")] }, [
      ["a", "b"],
      ["a", "c"],
    ]),
    ...handled({ id: "it", parallel: { one: [down], two: [{ id: "pause", wait: "1s" }] } }),
  }),
  ...under("until", {
    until: rounds("until", "true", [["again", "again", "again", "again"], ["again"]]),
    do: rounds(
      "do",
      [say("more")],
      [
        ["again", "again", "again", "again"],
        ["more", "more", "more", "more"],
      ],
    ),
    max: rounds("max", 2, [
      ["again", "again", "again", "again"],
      ["again", "again"],
    ]),
    every: rounds(
      "every",
      undefined,
      [
        [0, 10, 40, 80],
        [0, 30, 70, 110],
      ],
      times,
    ),
    factor: rounds(
      "factor",
      2,
      [
        [0, 10, 40, 80],
        [0, 10, 30, 70],
      ],
      times,
    ),
    cap: rounds(
      "cap",
      undefined,
      [
        [0, 10, 40, 80],
        [0, 10, 40, 130],
      ],
      times,
    ),
    ...handled({ id: "it", until: "true", do: [down], max: 1 }),
  }),
  ...under("wait", {
    wait: waits("wait", "20m", [600, 1200], seconds),
    "wait.until": until(
      "wait/until",
      "2026-01-08T00:00:00Z",
      ["2026-01-07T00:00:00Z", "2026-01-08T00:00:00Z"],
      finished,
    ),
  }),
  ...under("judge", {
    judge: of({ id: "it", judge: "sure" }, { points }, unasked)("judge", "other", ["Sure?", "Other?"], question),
  }),
  ...under("fail", {
    fail: failing(
      "fail",
      "Too few",
      [
        ["FAILED", "FAIL_STEP: step it: Too many"],
        ["FAILED", "FAIL_STEP: step it: Too few"],
      ],
      error,
    ),
    pause: failing("pause", undefined, ["fail_step", ""], paused),
  }),
};
