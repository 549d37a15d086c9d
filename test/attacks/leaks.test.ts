import { readdir } from "node:fs/promises";
import type { DescService } from "@bufbuild/protobuf";
import { dataKeyHeader } from "@svc/core";
import { type StoredColumn, storedColumns } from "@svc/db/schema/stored-columns";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindOfColumn } from "./leaks-columns.ts";
import { playLeaks, type Scene } from "./leaks-scene.ts";
import { findPlanted } from "./planted.ts";

// Every place that takes or creates a secret gets a different one. Then everything is searched for these secrets: columns, answers, logs
// and requests to endpoints.

let scene: Scene;
beforeAll(async () => {
  scene = await playLeaks();
}, 60_000);
afterAll(() => scene?.[Symbol.asyncDispose]());

/** API methods that this file does not call, each with the reason. */
const uncalled: Readonly<Record<string, string>> = {
  "AdminService/ResumeRestored": "it needs a restored store: test/restored.test.ts resumes one",
  // They need a provider of company accounts: test/people signs people in.
  "AdminService/CreateInvitation": "it needs a provider",
  "AdminService/SetPersonRole": "it needs a person",
  "AdminService/RemovePerson": "it needs a person",
  // The apps of the scene are real, and a sandbox holds no secret: test/sandbox.test.ts makes these calls.
  "SandboxService/SendSampleEvent": "it needs the sandbox",
  "SandboxService/CreateInbox": "it needs the sandbox",
  "SandboxService/ListInboxRequests": "it needs the sandbox",
  "SandboxService/ConnectSandboxAccounts": "it needs the sandbox",
};

/**
 * Columns that are encrypted with the vault key itself. All others are encrypted with a data key, and data keys are in one of these
 * columns.
 */
const underVaultKey = new Set(["data_keys.wrapped", "vault_check.sealed"]);

/** Sealed columns that the scene does not fill, each with the reason. */
const unfilled: Readonly<Record<string, string>> = {
  "people.refresh": "it needs a provider of company accounts: packages/server/src/vault/vault.test.ts seals it",
};

const isFree = ({ sqlType, isWord }: StoredColumn) => !isWord && /text|json|bytea|char/.test(sqlType);
const nameOf = ({ table, column }: StoredColumn) => `${table}.${column}`;

test("every column that could hold a secret is declared here, and no other", () => {
  const free = storedColumns().filter(isFree).map(nameOf);
  expect(free.toSorted()).toEqual([...kindOfColumn.keys()].toSorted());
});

test("sealed columns hold sealed values, and each of them holds some, none under a key from before the rotation", async () => {
  const { sql } = scene.server.database.db;
  const [rotation] = await sql`select last_old_number as last, resealed, problem, state from vault_rotations`;
  expect(rotation).toMatchObject({ state: "done", problem: "" });
  expect(Number(rotation?.["resealed"])).toBeGreaterThan(50);
  const firstNew = dataKeyHeader(Number(rotation?.["last"]) + 1);
  // A node stores the groups of failures every ten seconds.
  await until(async () => (await sql`select from failure_groups limit 1`).length > 0, "a group of failures");
  const sealed = storedColumns().filter((one) => kindOfColumn.get(nameOf(one)) === "sealed");
  for (const { table, column } of sealed.filter((one) => unfilled[nameOf(one)] === undefined)) {
    // Empty values are left out. For a job's call, for example, no arguments are stored.
    const rows = await sql`select ${sql(column)} as value from ${sql(table)} where length(${sql(column)}) > 0`;
    const name = `${table}.${column}`;
    expect(rows.length, name).toBeGreaterThan(0);
    // The first byte says how a value is encrypted: with the vault key or with a data key.
    for (const { value } of rows) expect((value as Buffer)[0], name).toBe(underVaultKey.has(name) ? 1 : 2);
    if (!underVaultKey.has(name))
      for (const { value } of rows) expect(firstNew.compare(value as Buffer), name).toBeLessThanOrEqual(0);
  }
});

test("no column holds a secret, nor a project's own words where others than its answers would have them", async () => {
  const { sql } = scene.server.database.db;
  const leaks: string[] = [];
  const { appSaid: _quoted, ...others } = scene.words;
  for (const declared of storedColumns()) {
    const { table, column } = declared;
    const words = kindOfColumn.get(nameOf(declared)) === "quoted" ? others : scene.words;
    const rows = await sql`select ${sql(column)}::text as value from ${sql(table)}`;
    for (const { value } of rows) {
      const found = findPlanted({ ...scene.secrets, ...words }, (value as string | null) ?? "");
      leaks.push(...found.map((name) => `${table}.${column}: ${name} in ${String(value).slice(0, 300)}`));
    }
  }
  expect(leaks).toEqual([]);
});

test("every call of every service was made, and did what it does", async () => {
  const folder = new URL("../../gen/src/svc/v1/", import.meta.url);
  const files = (await readdir(folder)).filter((file) => file.endsWith("_pb.ts"));
  const services = (await Promise.all(files.map((file) => import(new URL(file, folder).href))))
    .flatMap((module) => Object.values(module as Record<string, { kind?: string }>))
    .filter((declared) => declared?.kind === "service") as unknown as DescService[];
  const methods = services.flatMap(({ name, methods: own }) => own.map((method) => `${name}/${method.name}`));
  const made = new Set(scene.answers.filter(({ isOk }) => isOk).map(({ method }) => method));
  expect(methods.filter((method) => !made.has(method) && uncalled[method] === undefined)).toEqual([]);
  expect(methods.length).toBeGreaterThan(40);
});

test("no answer, page, post or metric holds a secret but what a call hands out to who asked for it", () => {
  const { answers, pages, posted, secrets } = scene;
  const shown = [
    ...answers.map(({ method, text }) => [method, text] as const),
    ...pages.map((text) => ["page", text] as const),
    ...posted.map((text) => ["post", text] as const),
  ];
  const leaks = shown.flatMap(([method, text]) =>
    findPlanted(secrets, text).map((name) => `${method}: ${name} in ${text.slice(0, 600)}`),
  );
  expect(leaks).toEqual([]);
});

test("no line of the log, at trace level, holds a secret or a project's own words", () => {
  const { server, secrets, words } = scene;
  expect(server.logs.length).toBeGreaterThan(100);
  const leaks = server.logs.flatMap((line) =>
    findPlanted({ ...secrets, ...words }, line).map((name) => `${name}: ${line}`),
  );
  expect(leaks).toEqual([]);
});

test("the app was sent the secrets that are its own, so that the rest tells something", () => {
  const sent = scene.app.seen.map(({ headers, body }) => JSON.stringify(headers) + body).join(" ");
  const { apiKey, argument, programInput, access, answered, stepResult, vaultValue, embeddingsKey } = scene.secrets;
  for (const secret of [apiKey, argument, programInput, access, answered, stepResult, vaultValue, embeddingsKey])
    expect(sent).toContain(secret);
});
