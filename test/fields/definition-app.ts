import type { AppAnswer, AppRequest } from "@svc/connections";

/** Returns the name of the account's owner that the shop reports, by the number of the definition. */
export const referenceOf = (index: number) => `u-${index}`;

/**
 * Returns the answer of the shop app: pages of two items, a note as it was sent, errors that look like answers, and nothing for a deletion.
 */
export function answerOfShop({ method, url, body }: AppRequest, index: number): AppAnswer {
  const { pathname, searchParams } = new URL(url);
  const answer = (status: number, value?: unknown): AppAnswer => {
    const bytes = value === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(value));
    return { kind: "answer", status, headers: { "content-type": "application/json" }, body: bytes };
  };
  if (pathname.endsWith("/token"))
    return answer(200, { access_token: "token", token_type: "bearer", expires_in: 3600 });
  if (method === "DELETE") return answer(204);
  if (pathname.endsWith("/me")) return answer(200, { id: referenceOf(index), other: `other-${index}` });
  if (pathname.endsWith("/names")) return answer(200, ["a", "b"]);
  if (method === "GET") {
    const cursor = searchParams.get("page") ?? searchParams.get("other") ?? "";
    const isLast = cursor === "p2";
    const row = (at: number) => ({
      id: `i${at}`,
      at,
      kind: "order",
      day: `2026-01-05T09:0${at}:00Z`,
      late: `2026-01-05T09:0${at + 2}:00Z`,
    });
    const items = isLast ? [row(3)] : [row(1), row(2)];
    const next = isLast ? null : "p2";
    return answer(200, {
      data: { items, next, link: next && `/items?page=${next}`, more: !isLast, full: false, others: [{ id: "o1" }] },
      ok: true,
    });
  }
  const isForm = body?.startsWith("{") === false;
  const sent = isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body ?? "{}");
  if (sent.text === "wrong") {
    const codes = { code: "E-7", number: 8 };
    return answer(200, { error: { text: "It is wrong" }, ok: false, problem: "not so", ...codes });
  }
  return answer(200, { id: "n-1", ...sent, ok: true });
}
