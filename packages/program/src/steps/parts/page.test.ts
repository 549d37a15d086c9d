import { createValidator } from "@svc/catalog";
import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "../../check/program.ts";
import { createFaultList } from "../../faults.ts";
import { schemaOf } from "../../read/form.ts";
import { createShapeReader } from "../../read/shape.ts";
import { pageForm, readPage } from "./page.ts";

const context = await testContext();

type Listing = { readonly call?: string; readonly args?: object; readonly rows?: object; readonly page: unknown };

const events = {
  call: "calendar.list_events",
  args: { calendar_id: "primary" },
  rows: { from: "items[]", keep: ["id"] },
};
const templates = {
  call: "esignature.list_templates",
  args: {},
  rows: { from: "templates[]", keep: ["template_id"] },
};
const users = { call: "incident_mgmt.list_users", args: {}, rows: { from: "users[]", keep: ["id"] } };
const updates = { call: "messaging_bot.get_updates", args: {}, rows: { from: "updates[]", keep: ["update_id"] } };
const issues = { call: "issue_tracker.list_issues", args: { team_id: "t1" }, rows: { from: "nodes[]", keep: ["id"] } };

/** Returns the faults of a program that reads a list in pages. Each has its code, its place below `rows`, and its message. */
async function faultsOf({ page, rows = events.rows, ...call }: Listing): Promise<string[]> {
  const step = { id: "list", ...events, ...call, entity: "ops", rows: { ...rows, page } };
  const program = { version: 1, title: "A list", steps: [step] };
  const checked = await checkProgram(JSON.stringify(program), context);
  if (!("faults" in checked)) return [];
  return checked.faults.map(({ code, pointer, message, hint }) => {
    return `${code.slice("PROGRAM_".length)} ${pointer.replace("/steps/0/", "")} ${message}: ${hint}`;
  });
}

test.each([
  [{ page: { max: 20 } }],
  [{ page: { arg: "page_token", from: "nextPageToken", max: 20 } }],
  [{ ...templates, page: { max: 20 } }],
  [{ ...templates, page: { arg: "page", start: 1, max: 20 } }],
  [{ ...templates, page: { arg: "page", start: 2, size: "page_size", max: 20 } }],
  [{ ...templates, args: { page: 3 }, page: { max: 20 } }],
])("%j is taken", async (listing) => {
  expect(await faultsOf(listing)).toEqual([]);
});

test("what lacks max is told whatever else is wrong with it", async () => {
  expect(await faultsOf({ page: { arg: "pageToken", from: "nextPageToken" } })).toEqual([
    expect.stringMatching(
      /^MALFORMED rows\/page lacks max: add max: it has max and may have arg, from, .* such as {"max":20}/,
    ),
    expect.stringMatching(/^REFERENCE_INVALID rows\/page\/arg "pageToken" is not an argument of calendar.list_events/),
  ]);
});

test("an argument that pages give may be left out, though the tool requires it", async () => {
  const institutions = { call: "bank_link.list_institutions", args: { count: 5, country_codes: ["US"] } };
  const rows = { from: "institutions[]", keep: ["name"] };
  expect(await faultsOf({ ...institutions, rows, page: { max: 20 } })).toEqual([]);
  expect(await faultsOf({ ...institutions, rows, page: undefined })).toEqual([
    expect.stringMatching(/^ARGUMENT_INVALID args .*offset/),
  ]);
});

test.each([
  ["nothing but how many", { page: {} }, /^MALFORMED rows\/page lacks max/],
  [
    "no way",
    { ...updates, page: { arg: "offset", max: 5 } },
    /^MALFORMED rows\/page does not say how to request the next page: .*"from": "nextPageToken".*"start": 1.*"by": "rows".*"query": "cursor"/,
  ],
  [
    "no way, where the tool declares one",
    { page: { arg: "page_token", max: 5 } },
    /^MALFORMED rows\/page does not say how to request the next page: write \{"max": 5\}: calendar.list_events declares its paging$/,
  ],
  ["a way without its argument", { page: { from: "nextPageToken", max: 5 } }, /^MALFORMED rows\/page does not say how/],
  [
    "two ways",
    { page: { arg: "page_token", from: "nextPageToken", start: 1, max: 5 } },
    /^MALFORMED rows\/page\/start start is given together with from/,
  ],
  [
    "a parameter of no link",
    { page: { arg: "page_token", query: "cursor", max: 5 } },
    /^MALFORMED rows\/page\/query query is given without from/,
  ],
  [
    "an offset in pages",
    { page: { arg: "max_results", by: "pages", max: 5 } },
    /^MALFORMED rows\/page has "pages" for by, which must be "rows" or left out: write \{"max": 5\}: calendar.list_events declares its paging$/,
  ],
  ["true", { page: true }, /^MALFORMED rows\/page is true, not an object: write \{"max": 20\} if the tool declares/],
  [
    "an offset taken for the number of a page",
    { ...users, page: { arg: "offset", start: 0, max: 5 } },
    /^ARGUMENT_INVALID rows\/page takes offset for the page number, but incident_mgmt.list_users declares it as an offset in rows: write \{"max": 5\}/,
  ],
  [
    "a number taken for a token",
    { ...templates, page: { arg: "page", from: "list_info.page", max: 5 } },
    /^ARGUMENT_INVALID rows\/page takes page for a token, but esignature.list_templates declares it as the page number/,
  ],
  [
    "the number of rows itself",
    { ...templates, page: { arg: "page", start: 1, size: 100, max: 5 } },
    /^MALFORMED rows\/page\/size is 100, not a text: write the name of the argument .* its value goes into args/,
  ],
  [
    "a tool that has one page",
    { ...issues, page: { max: 5 } },
    /^REFERENCE_INVALID rows\/page issue_tracker.list_issues declares no paging, and has no argument .*: leave page out, .*limit/,
  ],
  [
    "an argument that there is not, where the tool declares its paging",
    { page: { arg: "cursor", from: "nextPageToken", max: 5 } },
    /^REFERENCE_INVALID rows\/page\/arg "cursor" is not an argument of calendar.list_events: .*or write \{"max": 20\}/,
  ],
  [
    "a number for a text",
    { ...issues, page: { arg: "assignee_id", start: 1, max: 5 } },
    /^ARGUMENT_INVALID rows\/page\/arg assignee_id is string, not a number/,
  ],
  [
    "a first page that the tool does not take",
    { ...templates, page: { arg: "page", start: 0, max: 5 } },
    /^ARGUMENT_INVALID rows\/page\/start begins at 0, but page must be >= 1: write the number of the first page/,
  ],
  [
    "a first page that is said twice",
    { ...templates, args: { page: 3 }, page: { arg: "page", start: 1, max: 5 } },
    /^MALFORMED args\/page is not allowed next to page.start: leave out args.page/,
  ],
  [
    "a size that is no argument",
    { ...templates, page: { arg: "page", start: 1, size: "per_page", max: 5 } },
    /^REFERENCE_INVALID rows\/page\/size "per_page" is not an argument of esignature.list_templates/,
  ],
  [
    "more that is no boolean",
    { ...templates, page: { arg: "page", start: 1, more: "list_info.num_pages", max: 5 } },
    /^REFERENCE_INVALID rows\/page\/more is number, not true or false/,
  ],
  [
    "a link that is a number",
    { ...templates, page: { arg: "page_size", from: "list_info.num_pages", query: "page", max: 5 } },
    /^ARGUMENT_INVALID rows\/page\/from is number, which is not a link/,
  ],
] as const)("%s is refused once, with what would be right", async (_what, listing, fault) => {
  expect(await faultsOf(listing)).toEqual([expect.stringMatching(fault)]);
});

test("a list that is not there is refused with those that are, in other lists too", async () => {
  const items = { call: "work_mgmt.list_items", args: { board_id: "1" }, rows: { from: "items[]", keep: ["id"] } };
  expect(await faultsOf({ ...items, page: undefined })).toEqual([
    expect.stringMatching(
      /^REFERENCE_INVALID rows\/from .*: name a list of the output: boards\[\] \(of items_page\), boards\[0\].items_page.items\[\]$/,
    ),
  ]);
  expect(await faultsOf({ ...events, rows: { from: "items", keep: ["id"] }, page: { max: 5 } })).toContain(
    'MALFORMED rows/from is "items", which is not the path of a list: write "items[]"',
  );
  for (const from of ["$.items", "items[*]", ".items[]"]) {
    expect(await faultsOf({ ...events, rows: { from, keep: ["id"] }, page: { max: 5 } })).toContainEqual(
      expect.stringMatching(/: write "items\[\]"$/),
    );
  }
});

/** Values that each field of `page` can have in this test. Undefined leaves the field out. */
const values: Readonly<Record<string, readonly unknown[]>> = {
  max: [undefined, 5, 0],
  arg: [undefined, "token", ""],
  from: [undefined, "links.next", "a b"],
  query: [undefined, "cursor"],
  start: [undefined, 1, -1],
  by: [undefined, "rows", "pages"],
  size: [undefined, "limit", 5],
  more: [undefined, "has_more"],
};

test("a page is read without a fault where the schema takes it, and nowhere else", () => {
  const pages = Object.entries(values).reduce<Record<string, unknown>[]>(
    (made, [name, given]) => {
      return made.flatMap((page) => given.map((value) => (value === undefined ? page : { ...page, [name]: value })));
    },
    [{}],
  );
  const validate = createValidator(schemaOf(pageForm));
  const taken = pages.filter((page) => validate(page).length === 0);
  const read = pages.filter((page) => {
    const faults = createFaultList(page);
    const spec = readPage({ value: page as never, path: [] }, createShapeReader(faults));
    expect(spec === undefined && faults.count === 0, JSON.stringify(page)).toBe(false);
    return faults.count === 0;
  });
  expect(read).toEqual(taken);
  expect(taken.length).toBeGreaterThan(10);
});
