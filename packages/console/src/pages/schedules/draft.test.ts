import { expect, test } from "vitest";
import { definitionText, programOfSkill } from "./definition-text.ts";
import { type Draft, hasHiddenInput, keptParts, newDraft, readDefinition } from "./draft.ts";
import { placeDefinitionFaults } from "./draft-faults.ts";

const program = '{"version": 1, "params": {"min": 1000.0}, "steps": []}';
const written = (draft: Partial<Draft>) => JSON.parse(definitionText({ ...newDraft("UTC"), ...draft }, program));

test("a new schedule says nothing that is left to the service, and has its program as it was written", () => {
  const draft = newDraft("Europe/Vienna");
  expect(definitionText(draft, program)).toBe(
    `{"version":1,"timeZone":"Europe/Vienna","source":{"schedule":{"cron":["0 9 * * 1-5"]}},"program":${program}}`,
  );
});

test("each way of being started is a source of its own", () => {
  expect(written({ by: "cron", cron: "0 9 * * 1\n\n 30 9 * * 2 " }).source.schedule).toEqual({
    cron: ["0 9 * * 1", "30 9 * * 2"],
  });
  expect(written({ by: "every", every: "15m" }).source).toEqual({ schedule: { every: "15m" } });
  expect(written({ by: "at", at: "2027-01-01T00:00:00Z" }).source.schedule.at).toEqual(["2027-01-01T00:00:00Z"]);
  expect(written({ by: "trigger", trigger: "a.b", entity: "" }).source).toEqual({ trigger: { slug: "a.b" } });
  expect(
    written({ by: "poll", call: "a.b", pollEntity: "ada", pollEvery: "5m", args: '{"x": 1}', first: '"all"' }).source,
  ).toEqual({ poll: { call: "a.b", entity: "ada", every: "5m", args: { x: 1 }, first: "all" } });
});

test("what is no number or no JSON is sent as it was typed, for the service to refuse", () => {
  const { rate, input, budget } = written({ rateMax: "many", ratePer: "1m", input: "{", runs: " 20 " });
  expect([rate, input, budget]).toEqual([{ max: "many", per: "1m" }, "{", { runs: 20 }]);
});

test("what stands is written again as it was, with what the form does not show and the digits of its program", () => {
  const stands = {
    ...{ version: 1, title: "T", timeZone: "UTC", when: "true", drift: "follow", pauseAfter: 3 },
    source: { schedule: { every: "1h", jitter: "2m" } },
    overlap: { policy: "allow", max: 4, queueFor: "1h" },
    budget: { runs: 5, whenOver: "skip" },
  };
  const json = `${JSON.stringify(stands).slice(0, -1)},"program":${program}}`;
  const { draft, programText, kept } = readDefinition(json);
  expect(programText).toContain("1000.0");
  expect(JSON.parse(definitionText(draft, programText, kept))).toEqual(JSON.parse(json));
  expect(keptParts(kept)).toEqual(["drift", "schedule.jitter", "overlap.queueFor", "budget.whenOver"]);
  const bounded = JSON.parse(definitionText({ ...draft, policy: "", runs: "" }, programText, kept));
  expect([bounded.overlap, bounded.budget, bounded.drift]).toEqual([undefined, undefined, "follow"]);
});

test("numbers keep their digits, and what is not shown is known by its place", () => {
  const json = `{"input":{"id":12345678901234567890,"worth":1.0},"dedupe":{"window":3},"pauseAfter":1e1,"program":${program}}`;
  const { draft, programText, kept } = readDefinition(json);
  const again = definitionText({ ...draft, title: "***" }, programText, kept);
  expect(draft.pauseAfter).toBe("1e1");
  expect(again).toContain('"input":{"id":12345678901234567890,"worth":1.0}');
  expect([hasHiddenInput(again), hasHiddenInput('{"input": {"token": "***"}}')]).toEqual([false, true]);
  expect([hasHiddenInput('{"program": {"input": {"token": "***"}}}'), hasHiddenInput("{")]).toEqual([true, false]);
});

test("the program of a skill runs it with its input", () => {
  expect(JSON.parse(programOfSkill("skills.tell", '{"text": ""}')).steps).toEqual([
    { id: "run", run: "skills.tell", input: { text: "" } },
  ]);
});

test("a fault stands at its field, at its line of the program, or beside both", () => {
  const fault = (pointer: string) => ({ reason: "R", field: `definitionJson${pointer}`, help: `of ${pointer}` });
  const {
    at,
    program: ofProgram,
    rest,
  } = placeDefinitionFaults("cron", program, [
    ...["/timeZone", "/source/schedule/cron/0", "/rate", "/program/steps", "/collect/quiet", ""].map(fault),
  ]);
  expect(at).toEqual({ timeZone: "of /timeZone", cron: "of /source/schedule/cron/0", rateMax: "of /rate" });
  expect(ofProgram.map(({ pointer, line }) => [pointer, line])).toEqual([["/steps", 1]]);
  expect(rest).toEqual(["/collect/quiet of /collect/quiet", "of "]);
});
