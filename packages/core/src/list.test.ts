import { expect, test } from "vitest";
import { type CallContext, type Principal, principalContext } from "./access/principal.ts";
import { createSealer, generateVaultKey, parseVaultKeys } from "./crypto/seal.ts";
import { createId } from "./ids/id.ts";
import { adminList, byId, byText, projectList } from "./list.ts";

const sealer = createSealer(parseVaultKeys(generateVaultKey()));
const projectId = createId("prj", 0);

/** Returns the context of a call with a project's key, optionally scoped to an entity. */
function callOf(entityId = "", project = projectId): CallContext {
  const binding = entityId === "" ? undefined : { entityId, accessClasses: [], toolkitSlugs: [] };
  const principal: Principal = {
    kind: "project",
    projectId: project,
    keyId: createId("key", 0),
    role: "member",
    binding,
  };
  return { values: { get: (key) => (key.id === principalContext.id ? (principal as never) : key.defaultValue) } };
}

const stored = Array.from({ length: 1_001 }, (_, at) => ({
  id: createId("evt", 1_001 - at),
  entityId: at % 2 === 0 ? "ada" : "bob",
}));
type Request = { pageSize: number; pageToken: string; entityId: string };
const firstPage: Request = { pageSize: 0, pageToken: "", entityId: "" };

const list = projectList(sealer, {
  call: "ListEvents",
  order: byId("evt"),
  filter: ({ entityId }: Request) => ({ entityId }),
  rows: ({ filter: { entityId }, page: { after, limit } }) =>
    stored
      .filter((row) => entityId === "" || row.entityId === entityId)
      .filter(({ id }) => after === undefined || id < after)
      .slice(0, limit),
  answer: (rows) => ({ ids: rows.map(({ id }) => id) }),
});

test("pages follow each other without gap or repeat, and only the last has no token", async () => {
  const ids: string[] = [];
  const sizes: number[] = [];
  let pageToken = "";
  do {
    const page = await list({ ...firstPage, pageSize: 400, pageToken }, callOf());
    ids.push(...page.ids);
    sizes.push(page.ids.length);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(ids).toEqual(stored.map(({ id }) => id));
  expect(sizes).toEqual([400, 400, 201]);
});

test("a page has 50 rows if the request names no size, and 500 at most; a negative size is refused", async () => {
  expect((await list(firstPage, callOf())).ids).toHaveLength(50);
  expect((await list({ ...firstPage, pageSize: 2_000_000_000 }, callOf())).ids).toHaveLength(500);
  const refused = { details: [{ reason: "PAGE_SIZE_NEGATIVE", field: "pageSize" }] };
  await expect(list({ ...firstPage, pageSize: -1 }, callOf())).rejects.toMatchObject(refused);
});

test("a token is good for its call, project and conditions alone", async () => {
  const { nextPageToken: pageToken } = await list(firstPage, callOf());
  const other = adminList(sealer, {
    call: "ListProjects",
    order: byText((row: { readonly name: string }) => row.name),
    rows: () => [{ name: "a" }],
    answer: (rows) => ({ names: rows.map(({ name }) => name) }),
  });
  const refused = { details: [{ reason: "PAGE_TOKEN_INVALID", field: "pageToken" }] };
  for (const attempt of [
    () => list({ ...firstPage, pageToken, entityId: "ada" }, callOf()),
    () => list({ ...firstPage, pageToken }, callOf("ada")),
    () => list({ ...firstPage, pageToken }, callOf("", createId("prj", 1))),
    () => list({ ...firstPage, pageToken: `${pageToken}A` }, callOf()),
    () => list({ ...firstPage, pageToken: "%" }, callOf()),
    () => other({ pageSize: 0, pageToken }),
  ]) {
    await expect(attempt()).rejects.toMatchObject(refused);
  }
  expect(await other({ pageSize: 0, pageToken: "" })).toEqual({ names: ["a"], nextPageToken: "" });
});

test("a caller bound to an entity reads its rows alone, and of another entity an empty list", async () => {
  const own = await list({ ...firstPage, pageSize: 500 }, callOf("bob"));
  expect(own.ids).toEqual(stored.flatMap(({ id, entityId }) => (entityId === "bob" ? [id] : [])));
  expect(await list({ ...firstPage, entityId: "ada" }, callOf("bob"))).toEqual({ ids: [], nextPageToken: "" });
});

test("rows that the caller does not reach shorten a page, and a search that ended early has a token", async () => {
  const walked = projectList(sealer, {
    call: "ListEvents",
    order: byId("evt"),
    rows: ({ page: { after } }) => (after === undefined ? { rows: stored.slice(0, 3), walkedTo: stored[9]!.id } : []),
    isInScope: (row, binding) => row.entityId === binding?.entityId,
    answer: (rows) => ({ ids: rows.map(({ id }) => id) }),
  });
  const first = await walked(firstPage, callOf("ada"));
  expect(first.ids).toEqual([stored[0]!.id, stored[2]!.id]);
  expect(await walked({ ...firstPage, pageToken: first.nextPageToken }, callOf("ada"))).toEqual({
    ids: [],
    nextPageToken: "",
  });
});
