import { createId } from "@svc/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { type KeptSession, KeptSessions } from "./kept-sessions.ts";

const projects = Array.from({ length: 10 }, (_, at) => createId("prj", at + 1));

const sessionOf = (project: number): KeptSession => ({
  projectId: projects[project] ?? createId("prj", 99),
  opening: new Promise(() => {}),
  usedMs: performance.now(),
  list: undefined,
});

test("a session that nobody uses is released after 5 minutes, without another call", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = new KeptSessions();
  sessions.add("a", sessionOf(0));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(200_000);
  expect(sessions.use("a")).toBeDefined();
  vi.advanceTimersByTime(240_000);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(120_000);
  // The timer ends with the last session.
  expect(vi.getTimerCount()).toBe(0);
  expect(sessions.use("a")).toBeUndefined();
});

test("a session that failed late does not remove the newer one", () => {
  const sessions = new KeptSessions();
  const [old, newer] = [sessionOf(0), sessionOf(0)];
  sessions.add("a", old);
  sessions.add("a", newer);
  sessions.remove("a", old);
  expect(sessions.use("a")).toBe(newer);
  sessions.remove("a", newer);
  expect(sessions.use("a")).toBeUndefined();
});

test("in a full node, the project with the most sessions gives one up", () => {
  const sessions = new KeptSessions();
  for (let at = 0; at < 7 * 32; at++) sessions.add(`many ${at}`, sessionOf(1 + (at % 7)));
  for (let at = 0; at < 31; at++) sessions.add(`some ${at}`, sessionOf(8));
  sessions.add("small", sessionOf(0));
  sessions.add("further", sessionOf(9));
  for (const key of ["small", "further", "some 0"]) expect(sessions.use(key)).toBeDefined();
  expect(sessions.use("many 0")).toBeUndefined();
});
