import { createSealer, type ProjectId, SealError, systemClock, uuidOfId } from "@svc/core";
import { createProject } from "@svc/db/projects/repo";
import { SecretsService } from "@svc/gen/secrets";
import { createTestDatabase } from "@svc/testing/database";
import { createProjectClient, refusalOf } from "@svc/testing/project-client";
import { afterAll, expect, test } from "vitest";
import { createSecretVault } from "./secrets.ts";
import { createSecretsService } from "./service/secrets.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const sealer = createSealer([{ id: "k", secret: Buffer.alloc(32, 7) }]);
const service = createSecretsService({ db, sealer, clock: systemClock });
const vault = createSecretVault({ db, sealer });

let projects = 0;
async function setUp() {
  const { id: projectId } = await createProject(db, `p${++projects}`, systemClock.now());
  const register = (router: Parameters<Parameters<typeof createProjectClient>[1]>[0]) =>
    router.service(SecretsService, service);
  return { projectId, client: createProjectClient(SecretsService, register, { projectId, role: "approver" }) };
}
const rowOf = (projectId: ProjectId, name: string) =>
  db.sql`select value from secrets where project_id = ${uuidOfId(projectId)} and name = ${name}`;

test("a secret is opened for its own project under its present value, and a name that is not there is left out", async () => {
  const [own, other] = [await setUp(), await setUp()];
  await own.client.putSecret({ name: "billing_token", value: "first-value" });
  await other.client.putSecret({ name: "theirs", value: "their-value" });
  const names = ["billing_token", "theirs", "billing_token", "never"];
  expect(await vault.open(own.projectId, names)).toEqual(new Map([["billing_token", "first-value"]]));
  const { secret } = await own.client.putSecret({ name: "billing_token", value: "second-välue\n" });
  expect(secret?.name).toBe("billing_token");
  expect(await vault.open(own.projectId, names)).toEqual(new Map([["billing_token", "second-välue\n"]]));
  await own.client.deleteSecret({ name: "billing_token" });
  expect(await vault.open(own.projectId, names)).toEqual(new Map());
});

test("what is sealed for one name or project opens for no other", async () => {
  const [own, other] = [await setUp(), await setUp()];
  for (const name of ["a", "b"]) await own.client.putSecret({ name, value: `value-of-${name}` });
  await other.client.putSecret({ name: "a", value: "value-of-another" });
  const [row] = await rowOf(own.projectId, "a");
  expect(String(row?.["value"])).not.toContain("value-of-a");
  await db.sql`update secrets set value = ${row?.["value"]} where name = 'b' or project_id = ${uuidOfId(other.projectId)}`;
  await expect(vault.open(own.projectId, ["b"])).rejects.toThrow(SealError);
  await expect(vault.open(other.projectId, ["a"])).rejects.toThrow(SealError);
  expect(await vault.open(own.projectId, ["a"])).toEqual(new Map([["a", "value-of-a"]]));
});

test("no refusal quotes a value, or says how long it is", async () => {
  const { client } = await setUp();
  for (const value of ["", "marker", `marker${"x".repeat(9_000)}`]) {
    const error = await client.putSecret({ name: "a", value }).then(
      () => "kept",
      (cause: unknown) => String(cause),
    );
    expect(error).toContain("value is shorter than 8 or longer than 8,192 characters");
    expect(error).not.toContain("marker");
  }
  expect(await refusalOf(client.putSecret({ name: "a", value: "marker" }))).toEqual({
    code: "InvalidArgument",
    reason: "SECRET_VALUE_INVALID",
    field: "value",
  });
});

test("a project has at most 200", async () => {
  const { client } = await setUp();
  const put = (n: number) => client.putSecret({ name: `s${n}`, value: "one-of-many" });
  await Promise.all(Array.from({ length: 200 }, (_, n) => put(n)));
  expect(await refusalOf(put(200))).toMatchObject({ reason: "SECRETS_TOO_MANY" });
  await put(7);
  expect((await client.listSecrets({})).secrets).toHaveLength(200);
});
