import type { NewJob } from "@svc/db/jobs/new-job";

/** The JSON columns of a newly submitted job's database row, for a job whose program has no params and makes no calls. */
export const newJobDocuments: Pick<NewJob["job"], "params" | "stepArgs" | "estimate" | "used" | "saga"> = {
  params: {},
  stepArgs: {},
  estimate: {
    callsMin: 0,
    callsMax: 0,
    writesMax: 0,
    destructiveMax: 0,
    rowsMax: 0,
    asksMax: 0,
    accessClasses: [],
    toolkits: [],
    entities: [],
    notCompensable: [],
  },
  used: { toolCalls: 0, writes: 0, rows: 0, asks: 0 },
  saga: { state: "none", entries: 0, done: 0, failed: 0 },
};
