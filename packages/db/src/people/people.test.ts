import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { createProject } from "../projects/repo.ts";
import { confirmPerson, endPerson, enterPerson, findPerson, replacePersonRefresh, setPersonRefresh } from "./people.ts";
import { setSeats } from "./seats.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const nowMs = Date.UTC(2026, 0, 5, 9);
const facts = { mail: "ada@example.com", name: "Ada", isAdministrator: false };

test("a check that ends after the access of a person stores no refresh token and confirms nothing", async () => {
  const account = { issuer: "https://login.example.com", subject: "ada" };
  const { id } = await enterPerson(db, { ...account, ...facts }, nowMs);
  const [first, next] = [Buffer.from("first"), Buffer.from("next")];
  await setPersonRefresh(db, id, first);
  const project = await createProject(db, "of ada", nowMs);
  await setSeats(db, id, new Map([[project.id, "member"]]), nowMs);
  await replacePersonRefresh(db, id, next);
  expect((await findPerson(db, id))?.refresh).toEqual(next);
  const change = { ...facts, isAdministrator: true, refresh: first };
  expect(await confirmPerson(db, id, change, nowMs + 1)).toBe(true);
  expect(await findPerson(db, id)).toMatchObject({ refresh: first, isAdministrator: true, confirmedAt: nowMs + 1 });

  expect(await endPerson(db, id, nowMs + 2, nowMs - 1)).toHaveLength(0);
  expect(await endPerson(db, id, nowMs + 2)).toHaveLength(1);
  await replacePersonRefresh(db, id, next);
  expect(await confirmPerson(db, id, change, nowMs + 3)).toBe(false);
  expect(await findPerson(db, id)).toMatchObject({ refresh: null, isAdministrator: false, confirmedAt: nowMs + 1 });
});
