import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import type { AskObservation } from "./observer.ts";
import { createAskBench, refusalOf } from "./test-asks.ts";

const { db, drop } = await createTestDatabase({ connectionsMax: 24 });
afterAll(drop);

// Number of rounds. The default is a small sample; `npm run test:crash` runs a thousand.
const rounds = Number(process.env["SVC_ASK_ROUNDS"] ?? 12);
const answersMax = 50;

test(`${rounds} times, of ${answersMax} answers and the clock at once exactly one settles an ask`, {
  timeout: 1_800_000,
}, async () => {
  const bench = await createAskBench(db);
  let byClock = 0;
  for (let round = 0; round < rounds; round++) {
    const jobId = await bench.job();
    const escalation = [{ principal: "lead", timeoutMs: 60_000 }];
    const id = await bench.raise(jobId, { escalation, defaultContinuation: "abort" });
    bench.clock.advance(60_000);
    const [clock] = await bench.claim();
    // In each round, the time of the ask expires at a different moment.
    let clocked: Promise<void> | undefined;
    const answers = Array.from({ length: answersMax }, (_, index) => {
      if (index === round % 6) clocked = clock?.run();
      return refusalOf(bench.answer(jobId, { requestId: index % 2 === 0 ? id : "", note: String(index) }));
    });
    const outcomes = (await Promise.all(answers)).map(({ reason }) => reason);
    await clocked;
    const ask = await bench.ask(jobId, id);
    const won = outcomes.flatMap((reason, index) => (reason === "" ? [index] : []));
    expect(outcomes.filter((reason) => reason !== "" && reason !== "ASK_SETTLED")).toEqual([]);
    expect(won.length + (ask.state === "defaulted" ? 1 : 0)).toBe(1);
    if (ask.state === "defaulted") byClock++;
    else expect(ask).toMatchObject({ state: "answered", decision: { note: String(won[0]) } });
    const log = await bench.log(jobId);
    expect(log.filter(({ type }) => type === "ask-settled")).toHaveLength(1);
    expect(log.filter(({ type }) => type === "answer-refused")).toHaveLength(answersMax - won.length);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(await bench.tasks(jobId)).toEqual(["run"]);
    await db.sql`delete from job_tasks`;
  }
  // Checks that in some rounds the expired time was faster than the answer, so that there was a race.
  expect(byClock).toBeGreaterThan(0);
  expect(byClock).toBeLessThan(rounds);
});

test("a settled ask is told of once, after its commit, by a person as by the clock, and without who was asked what", async () => {
  const observed: AskObservation[] = [];
  const states: Promise<string>[] = [];
  const bench = await createAskBench(db, {
    observer: {
      asks: {
        settled(ask) {
          observed.push(ask);
          states.push(bench.ask(ask.jobId, ask.askId).then(({ state }) => state));
        },
      },
    },
  });
  const answered = await bench.job();
  const first = await bench.raise(answered);
  await refusalOf(bench.answer(answered, { principalId: "nobody" }));
  bench.clock.advance(5_000);
  await bench.answer(answered, { note: "planted" });
  await refusalOf(bench.answer(answered));
  const defaulted = await bench.job();
  const escalation = [{ principal: "lead", timeoutMs: 60_000 }];
  const second = await bench.raise(defaulted, { escalation, defaultContinuation: "abort" });
  bench.clock.advance(60_000);
  await bench.work();
  const facts = { projectId: bench.projectId, stepId: "gate", kind: "judge", hops: 0 };
  expect(observed).toEqual([
    {
      ...facts,
      askId: first,
      jobId: answered,
      state: "answered",
      continuation: "proceed",
      surface: "api",
      keyId: bench.keyId,
      refusedAnswers: 1,
      waitMs: 5_000,
    },
    {
      ...facts,
      askId: second,
      jobId: defaulted,
      state: "defaulted",
      continuation: "abort",
      surface: "timeout",
      keyId: "",
      refusedAnswers: 0,
      waitMs: 60_000,
    },
  ]);
  expect(JSON.stringify(observed)).not.toMatch(/lead|planted/);
  expect(await Promise.all(states)).toEqual(["answered", "defaulted"]);
});
