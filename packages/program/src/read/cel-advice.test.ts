import fc from "fast-check";
import { expect, test } from "vitest";
import { translated } from "./cel-advice.ts";
import { parseExpression } from "./cel-calls.ts";

test.each([
  ["row.status = 'open' and row.value > 1000", "row.status == 'open' && row.value > 1000"],
  ["row.a == 1.0 or not row.b == 2.0", "row.a == 1.0 || !(row.b == 2.0)"],
  ["NOT row.done AND row.a <> 'x'", "!(row.done) && row.a != 'x'"],
  ["row.owner is not null and row.status IN ('a', 'b')", "row.owner != null && row.status in ['a', 'b']"],
  ["row.email not in params.blocked", "!(row.email in params.blocked)"],
  ["row.assignee == None", "row.assignee == null"],
  ["len(row.tags) > 2", "size(row.tags) > 2"],
  ["row.tags.length > 2", "size(row.tags) > 2"],
  ["len(deals) > 0", "rows.deals > 0"],
  ["contains(row.title, 'a and b')", "row.title.contains('a and b')"],
  ['!contains(lower(row.title), "x")', '!row.title.lowerAscii().contains("x")'],
  ["if row.a > 1.0 then 'x' else 'y'", "row.a > 1.0 ? 'x' : 'y'"],
  ["'x' if row.a > 1.0 else 'y'", "row.a > 1.0 ? 'x' : 'y'"],
  ["row.tags.some(t => t === 'a')", "row.tags.exists(t, t == 'a')"],
  ["\u0024{row.a} > 1.0", "row.a > 1.0"],
  ["\u201Copen\u201D == row.status", '"open" == row.status'],
  ["item.status == `x`", 'row.status == "x"'],
  ["max(row.a, 3.0) > 2.0", "math.greatest(row.a, 3.0) > 2.0"],
  ["row.a ?? 'x'", "(has(row.a) ? row.a : 'x')"],
  ["last(row.tags)", "row.tags[size(row.tags) - 1]"],
  ["row.tags.last().name", "row.tags[size(row.tags) - 1].name"],
  ["first(row.tags) == row.tags.first()", "row.tags[0] == row.tags[0]"],
  ["concat(row.a, ' ', row.b)", "row.a + ' ' + row.b"],
  ["date(row.due) < today() - 7 days", 'timestamp(row.due + "T00:00:00Z") < now - duration("168h")'],
  ["timestamp(row.due) < now - duration('2w')", 'timestamp(row.due) < now - duration("336h")'],
  ["round(row.value, 2)", "double('%.2f'.format([row.value]))"],
  ["math.round(row.value, 1)", "double('%.1f'.format([row.value]))"],
  ["row.value.toFixed(2)", "'%.2f'.format([row.value])"],
  ["row.at.getDay()", "row.at.getDayOfWeek()"],
  ["string(today)", "string(now).substring(0, 10)"],
  ["row.due == today", "row.due == string(now).substring(0, 10)"],
  ["today - 7 days", 'now - duration("168h")'],
  ["now.format('YYYY-MM-DD')", "string(now).substring(0, 10)"],
  ["formatDate(now, 'YYYY')", "string(now).substring(0, 10)"],
  ["now.toISOString()", "string(now)"],
  ["row?.status == 'open'", "row.status == 'open'"],
])("%s is written %s", (source, written) => {
  expect(translated(source, ["deals"])).toBe(written);
});

test.each(["row.a == 'x and y = z'", "row.a > 1.0 && has(row.b)", "((("])(
  "of %s nothing is known to be meant",
  (source) => {
    expect(translated(source)).toBeUndefined();
  },
);

test("a set is no list, of which one row could be taken", () => {
  for (const source of ["sum(rows.deals.value)", "rows.deals.value.sum() > 1.0", "len(rows.deals.value)"]) {
    expect(translated(source, ["deals"])).toBeUndefined();
  }
  for (const source of ["last(rows.deals)", "first(deals)", "rows.deals.first()", "deals.last().id"]) {
    expect(translated(source, ["deals", "a"])).toBeUndefined();
  }
  expect(translated("last(row.data)", ["deals", "a"])).toBe("row.data[size(row.data) - 1]");
});

const piece = fc.constantFrom(
  "row.a",
  " and ",
  " or ",
  " not ",
  "not(",
  " = ",
  " in (",
  ")",
  "(",
  "if ",
  " then ",
  " else ",
  "len(",
  "contains(",
  "'x'",
  ", ",
  "7 days",
  ".length",
  "=>",
  "\u0024{",
  "}",
  "??",
  " is null",
  "now()",
  '"',
  "`",
  "row.tags.some(t",
);

test("whatever is written, what is answered for it is CEL, and soon there", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      const source = pieces.join("").slice(0, 1_024);
      const before = process.threadCpuUsage().user;
      const written = translated(source, ["deals"]);
      const cpuMs = (process.threadCpuUsage().user - before) / 1_000;
      if (written !== undefined) expect(parseExpression(written)).toHaveProperty("tree");
      expect(cpuMs).toBeLessThan(50);
    }),
    { numRuns: 300 },
  );
  for (const part of ["not ", "a", "if a then ", "(", "in(", "a.b.", "\u0024{a", "x?? ", "f("]) {
    const before = process.threadCpuUsage().user;
    translated(part.repeat(1_024 / part.length));
    expect((process.threadCpuUsage().user - before) / 1_000, part).toBeLessThan(50);
  }
});
