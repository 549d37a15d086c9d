import type { Estimate, Job, JobLimits, Receipt } from "@svc/gen/jobs";
import { durationWords } from "../../words/time.ts";
import { declaredLimit } from "./program.ts";

/** One line in the table of a job's figures, such as its number of calls: estimated, simulated and actual value, and the limit. */
export type Figure = { name: string; estimated: string; simulated: string; actual: string; limit: string };

/** Default limits of the service, by the name of the limit in a program. They apply if the program declares no limit. */
const unlessGiven: Record<string, string> = {
  toolCalls: "10,000",
  writes: "1,000",
  rows: "10,000",
  asks: "20",
  deadline: "1 d",
};

/**
 * Returns the figures of a job: estimated and actual values, and limits. While the job has no receipt (final report), the actual values are
 * taken from its steps.
 */
export function figuresOf(job: Job, simulation: Job | undefined): Figure[] {
  const { estimate } = job;
  const actual = actualOf(job);
  const simulated = simulation === undefined ? undefined : actualOf(simulation);
  const line = (
    name: string,
    limit: keyof typeof unlessGiven | undefined,
    key: keyof Counts,
    estimated: string,
  ): Figure => ({
    name,
    estimated,
    simulated: wordOf(simulated?.[key]),
    actual: wordOf(actual[key]),
    limit: limit === undefined ? "" : limitOf(job, limit),
  });
  return [
    line("Tool calls", "toolCalls", "calls", callsWords(estimate)),
    line("Writes", "writes", "writes", wordOf(estimate?.writesMax)),
    line("Destructive", undefined, "destructive", wordOf(estimate?.destructiveMax)),
    line("Rows", "rows", "rows", wordOf(estimate?.rowsMax)),
    line("Questions", "asks", "asks", wordOf(estimate?.asksMax)),
    {
      name: "Time",
      estimated: "",
      simulated: timeOf(simulation?.receipt),
      actual: timeOf(job.receipt),
      limit: limitOf(job, "deadline"),
    },
  ];
}

type Counts = { calls?: number; writes?: number; destructive?: number; rows?: number; asks?: number };

function actualOf({ receipt, stepReceipts }: Job): Counts {
  if (receipt?.actual !== undefined) return receipt.actual;
  const sum = (count: (receipt: (typeof stepReceipts)[number]) => number) =>
    stepReceipts.reduce((total, step) => total + count(step), 0);
  const writes = sum(({ calls }) => (calls?.write ?? 0) + (calls?.destructive ?? 0));
  return {
    calls: sum(({ calls }) => calls?.read ?? 0) + writes,
    writes,
    destructive: sum(({ calls }) => calls?.destructive ?? 0),
  };
}

function callsWords(estimate: Estimate | undefined): string {
  if (estimate === undefined) return "";
  const { callsMin, callsMax } = estimate;
  return callsMin === callsMax ? wordOf(callsMax) : `${wordOf(callsMin)} to ${wordOf(callsMax)}`;
}

function limitOf({ receipt, programJson }: Job, name: string): string {
  const max = receipt?.limits?.max;
  if (max !== undefined) return limitWords(max, name);
  const declared = declaredLimit(programJson, name);
  return typeof declared === "number" ? wordOf(declared) : (declared ?? unlessGiven[name] ?? "");
}

function limitWords(max: JobLimits, name: string): string {
  if (name === "deadline") return durationWords(max.deadlineSeconds * 1_000);
  return wordOf({ toolCalls: max.toolCalls, writes: max.writes, rows: max.rows, asks: max.asks }[name]);
}

function timeOf(receipt: Receipt | undefined): string {
  const used = receipt?.limits?.used;
  // The service reports whole seconds, rounded down, so 0 means less than one second.
  if (used?.deadlineSeconds === 0) return "0 s";
  return used === undefined ? "" : durationWords(used.deadlineSeconds * 1_000);
}

function wordOf(count: number | undefined): string {
  return count === undefined ? "" : count.toLocaleString("en");
}
