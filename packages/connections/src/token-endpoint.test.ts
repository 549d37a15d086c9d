import { expect, test } from "vitest";
import { cleanTokenBody, requestToken, scopesOf } from "./token-endpoint.ts";
import type { TokenFetch } from "./token-fetch.ts";

const token = { access_token: "t", token_type: "bearer" };
const clean = (changes: object) => cleanTokenBody({ ...token, ...changes });

test("a good answer stays, but for its id_token", () => {
  const good = { ...token, token_type: "bearer", expires_in: 3600, refresh_token: "r", scope: "a b", other: [1] };
  expect(clean({ ...good, id_token: "x" })).toEqual(good);
  expect(cleanTokenBody({ error: "invalid_grant", expires_in: -1 })).toEqual({
    error: "invalid_grant",
    expires_in: -1,
  });
});

test("a client's id and secret are form-encoded in the header, but characters of a UUID stay", async () => {
  let authorization = "";
  const fetch: TokenFetch = async (_url, init) => {
    authorization = new Headers(init.headers).get("authorization") ?? "";
    return Response.json(token);
  };
  const client = { clientId: "0b5c-4_f.*", clientSecret: "a b:ü!~-", tokenUrl: "https://a.example/t" };
  const answer = await requestToken({ ...client, secretPlace: "basic" }, { grant: "client", scopes: [] }, fetch);
  expect(answer).toMatchObject({ kind: "token", accessToken: "t" });
  expect(Buffer.from(authorization.slice(6), "base64").toString()).toBe("0b5c-4_f.*:a+b%3A%C3%BC%21%7E-");
});

test.each([-5, 0, 1e15, Number.POSITIVE_INFINITY, "soon", "", "-1", "1e15", [], {}, true, null])(
  "a life of %j is as if it had not been said",
  (expires_in) => expect(clean({ expires_in })).not.toHaveProperty("expires_in"),
);

test.each([
  ["3600", 3600],
  [" 60 ", 60],
  ["3600s", 3600],
  [1.9, 1],
  [0.5, 1],
  [315_360_000, 315_360_000],
])("a life of %j is %j seconds", (expires_in, seconds) => expect(clean({ expires_in }).expires_in).toBe(seconds));

test("a refresh token, or a type, that is no text is as if it had not been said", () => {
  for (const refresh_token of ["", 5, {}, null]) expect(clean({ refresh_token })).not.toHaveProperty("refresh_token");
  for (const token_type of ["", 5, null, undefined, "Bearer", "bot", "user", "Token", "N_A"])
    expect(clean({ token_type }).token_type).toBe("bearer");
  for (const token_type of ["DPoP", "mac"]) expect(clean({ token_type }).token_type).toBe(token_type);
});

test("scopes are those that a scope can be, each once, a thousand at most", () => {
  expect(scopesOf("read,write  read\tother")).toEqual(["read", "write", "other"]);
  expect(scopesOf(["read", 5, "write all"])).toEqual(["read", "write", "all"]);
  expect(scopesOf(`a\u0000b ok \u007f ü ${"x".repeat(501)} https://scopes.example/a.b`)).toEqual([
    "ok",
    "https://scopes.example/a.b",
  ]);
  expect(scopesOf(Array.from({ length: 5_000 }, (_, at) => `s${at}`).join(" "))).toHaveLength(1_000);
  for (const none of [undefined, null, 5, {}, ""]) expect(scopesOf(none)).toEqual([]);
});
