import { Histogram, type LatencySummary } from "../histogram.ts";
import { withSystem } from "../measure.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { callServer } from "../server.ts";
import { callStep, type JobsSetting, jobServer, readCall, submission, submitJob, untilStatus } from "./setting.ts";

const answersDefault = 300;

/**
 * Answers jobs that wait for a person one after the other, a few milliseconds apart. Measures the time from sending AnswerAsk until the app
 * receives the call of the next step.
 */
export function measureAnswers(setting: JobsSetting): Promise<LatencySummary> {
  const { ctx } = setting;
  // A short run uses fewer answers.
  const answers = Math.round(answersDefault * Math.min(1, (ctx.settings.seconds ?? 6) / 6));
  const server = jobServer(ctx.settings, setting.origin);
  return withSystem(ctx, server, { post: "calendar" }, async (system) => {
    const ids: string[] = [];
    for (let index = 0; index < answers + warmUps; index += 1) {
      ids.push((await submitJob(system, askingProgram(`i${index}`))).id);
    }
    const latency = new Histogram();
    for (const [index, id] of ids.entries()) {
      if (index % 50 === 0) ctx.progress(`answer ${index} of ${ids.length}`);
      await untilStatus(system, id, "JOB_STATUS_PARKED", 20);
      const arrival = setting.provider.ask("arrival", `i${index}`);
      const sentAt = monotonicMicros();
      await callServer(system.port, "JobsService/AnswerAsk", {
        jobId: id,
        principalId: "owner",
        continuation: "proceed",
      });
      const arrivedAt = await arrival;
      if (index >= warmUps) latency.record(arrivedAt - sentAt);
      // This waits for the job's end, so that its remaining work does not delay the next one.
      await untilStatus(system, id, "JOB_STATUS_SUCCEEDED", 5);
      await delay(pauseMs);
    }
    return latency.summary();
  });
}

const warmUps = 50;
const pauseMs = 5;

function askingProgram(itemId: string): { programJson: string } {
  const steps = [{ id: "gate", judge: "go" }, callStep("read", readCall, itemId)];
  const go = {
    question: "Go on?",
    continuations: ["proceed", "abort"],
    escalation: [{ principal: "owner" }],
  };
  return submission("Bench: one question", steps, { points: { go } });
}
