import { timestampMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import type { Job, StepReceipt, SvcClient } from "@svc/sdk";
import type { LineStyle, Screen, ScreenLine } from "../../../command/screen.ts";
import { plainText, spanText } from "../../../text/plain.ts";
import { questionLines, questionOfJob } from "../../asks/question.ts";
import { type ProgramStep, readProgram, type ShownProgram } from "../shown-program.ts";
import { callsText, hasEnded, readWaits, rowsText, standingText, tookText, type Wait } from "../text.ts";
import type { WatchView } from "./lines.ts";
import { createPaceMeter, doneRows, type Pace, type PaceMeter, placedText, progressText } from "./step.ts";

/**
 * Two intervals in milliseconds. `drawMs`: the command draws the lines about the watched job again. `readMs`: it reads a running job again
 * from the service.
 */
const drawMs = 250;
const readMs = 1_000;

/**
 * Returns a view that shows a watched job as one block of lines. The block has a line for each step, and the question if the job waits for
 * one. The view redraws the block in the same position.
 */
export function createBlockView(
  client: Pick<SvcClient, "jobs">,
  start: Job,
  { screen, options }: { screen: Screen; options: readonly string[] },
): WatchView {
  const program = readProgram(start);
  const meter = createPaceMeter();
  const stopped = new AbortController();
  let job = start;
  let paces: ReadonlyMap<string, Pace | undefined> = measure(meter, program, job);
  let notice = "";
  let told: readonly string[] = [];
  let isBehind = true;
  let waits: readonly Wait[] = [];
  const draw = () => screen.draw(fit(blockLines({ job, program, paces, waits, notice, told, options }), screen.rows));
  const loop = drawUntilStopped();
  return {
    event() {
      notice = "";
      isBehind = true;
    },
    // The block already shows the question of the job, so this function prints nothing.
    question(lines) {
      told = lines;
    },
    broken(reason) {
      notice = `The connection broke (${plainText(reason)}). Connecting again.`;
    },
    async close(last) {
      stopped.abort();
      await loop;
      job = last ?? job;
      // If the read fails, the block uses the waits that were read before.
      waits = await readWaits(client, job).catch(() => waits);
      draw();
      screen.keep();
    },
  };

  async function drawUntilStopped(): Promise<void> {
    let readAtMs = 0;
    draw();
    while (!stopped.signal.aborted) {
      await systemClock.wait(drawMs, stopped.signal);
      const isDue = systemClock.now() - readAtMs >= readMs;
      if (isDue && (isBehind || isAtWork(job)) && !stopped.signal.aborted) {
        isBehind = false;
        readAtMs = systemClock.now();
        await read();
      }
      if (!stopped.signal.aborted) draw();
    }
  }

  /**
   * Reads the job's current state for the display. If a read fails, prints nothing: the read is repeated later, and the stream of the job's
   * log reports the error.
   */
  async function read(): Promise<void> {
    try {
      const { job: found } = await client.jobs.getJob({ id: job.id }, { signal: stopped.signal });
      job = found ?? job;
      waits = await readWaits(client, job);
      paces = measure(meter, program, job);
    } catch {
      isBehind = true;
    }
  }
}

function isAtWork(job: Job): boolean {
  return !hasEnded(job) && job.park === undefined;
}

/**
 * Returns the speed of the job's current step (rows per second and estimated time left), by the id of the step. Returns an empty map if no
 * step with countable rows is running.
 */
function measure(meter: PaceMeter, program: ShownProgram, job: Job): ReadonlyMap<string, Pace | undefined> {
  const { stepReceipts: receipts } = job;
  const atWork = receipts.find(({ state }) => state === "");
  const done = atWork && doneRows(program, atWork.stepId, rowsByStep(job));
  if (atWork === undefined || done === undefined) return new Map();
  const sample = { stepId: atWork.stepId, atMs: systemClock.now(), ...done };
  return new Map([[atWork.stepId, meter.measure(sample)]]);
}

function rowsByStep({ stepReceipts }: Job) {
  return new Map(stepReceipts.flatMap(({ stepId, rows }) => (rows === undefined ? [] : [[stepId, rows] as const])));
}

/** Indent of a step that is inside another step. */
const indent = "  ";

/**
 * Values from which the display of `svc jobs watch` is drawn. The display is a block of lines in the terminal: the job, its steps and its
 * question.
 */
type BlockState = {
  readonly job: Job;
  readonly program: ShownProgram;
  readonly paces: ReadonlyMap<string, Pace | undefined>;
  readonly waits: readonly Wait[];
  readonly notice: string;
  /** Lines about the last question that a child job asked. They are shown while the watched job waits for the child job. */
  readonly told: readonly string[];
  readonly options: readonly string[];
};

/** Returns the lines of the block: the job, its steps, and the question for which the job waits. */
function blockLines({ job, program, paces, waits, notice, told, options }: BlockState): ScreenLine[] {
  const idWidth = Math.max(...program.steps.map(({ id, depth }) => id.length + indent.length * depth), 4);
  const receipts = new Map(job.stepReceipts.map((receipt) => [receipt.stepId, receipt]));
  const steps = program.steps.map((step) =>
    stepLine(step, receipts.get(step.id), { job, program, paces, waits, idWidth }),
  );
  const question = questionOfJob(job);
  const asked =
    question === undefined
      ? job.park?.reason === "child"
        ? told.map((text) => ({ ...line(text, "yellow"), wraps: true }))
        : []
      : questionLines(question, options).map((text) => ({ ...line(text, "yellow"), wraps: true }));
  const wakes =
    job.park?.wakeAt === undefined
      ? []
      : [line(`  continues in ${spanText(timestampMs(job.park.wakeAt) - systemClock.now())}`)];
  const noticed = notice === "" ? [] : [line(notice, "red")];
  return [headLine(job, program), ...steps, ...sagaLines(job), ...wakes, ...asked, ...noticed];
}

function headLine(job: Job, { title }: ShownProgram): ScreenLine {
  const { createdAt, finishedAt } = job;
  const endMs = finishedAt === undefined ? systemClock.now() : timestampMs(finishedAt);
  // A block with a question is not redrawn, so that the user can read and copy the question.
  const isAsking = job.park?.judgment !== undefined;
  const age = createdAt === undefined || isAsking ? "" : ` ${spanText(endMs - timestampMs(createdAt))}`;
  return line(`${job.id} ${plainText(title)}: ${standingText(job)}${age}`, "bold");
}

type StepContext = Pick<BlockState, "job" | "program" | "paces" | "waits"> & { readonly idWidth: number };

function stepLine(step: ProgramStep, receipt: StepReceipt | undefined, context: StepContext): ScreenLine {
  const { mark, style } = markOf(receipt);
  const id = `${indent.repeat(step.depth)}${step.id}`;
  const name = `${mark} ${id.padEnd(context.idWidth)}  ${placedText(step)}`;
  if (receipt === undefined) return line(name, style);
  const facts = receipt.state === "" ? workFacts(step, context) : endFacts(step, receipt, context);
  return line([name, ...facts].join("  "), style);
}

function workFacts({ id, kind }: ProgramStep, { job, program, paces }: StepContext): string[] {
  const rounds = job.stepReceipts.find(({ stepId }) => stepId === id)?.attempts ?? 0;
  if (kind === "until") return [`round ${rounds}`];
  const done = doneRows(program, id, rowsByStep(job));
  return done === undefined ? [] : [progressText(done, paces.get(id))];
}

function endFacts({ kind }: ProgramStep, receipt: StepReceipt, { waits }: StepContext): string[] {
  const { state, rows, calls } = receipt;
  const took = tookText(receipt, waits) ?? "";
  return [state === "completed" ? "" : state, rowsText(rows, kind), callsText(calls), took].filter(
    (text) => text !== "",
  );
}

function markOf(receipt: StepReceipt | undefined): { mark: string; style: LineStyle } {
  switch (receipt?.state) {
    case undefined:
      return { mark: "·", style: "dim" };
    case "":
      return { mark: ">", style: "none" };
    case "failed":
      return { mark: "x", style: "red" };
    case "skipped":
    case "undone":
      return { mark: "-", style: "dim" };
    default:
      return { mark: "+", style: "green" };
  }
}

function sagaLines({ saga }: Job): ScreenLine[] {
  if (saga === undefined || !["compensating", "compensated", "stuck"].includes(saga.state)) return [];
  const failed = saga.failed === 0 ? "" : `, ${saga.failed} failed`;
  return [line(`  undoing: ${saga.state}, ${saga.done} of ${saga.entries}${failed}`)];
}

function line(text: string, style: LineStyle = "none"): ScreenLine {
  return { text, style };
}

/** Returns the lines that fit on the screen: the first line, then the lines around the current step and the lines after it. */
function fit(lines: readonly ScreenLine[], rows: number): readonly ScreenLine[] {
  const [head] = lines;
  if (lines.length <= rows || head === undefined) return lines;
  const atWork = lines.findIndex(({ text }) => text.startsWith("> "));
  const from = Math.min(Math.max(1, atWork - Math.floor(rows / 2)), lines.length - (rows - 1));
  return [head, ...lines.slice(from, from + rows - 1)];
}
