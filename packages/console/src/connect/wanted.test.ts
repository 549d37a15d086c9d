import { expect, test } from "vitest";
import { connectOf, fieldsOf, type WantedAccount } from "./wanted.ts";

const wanted = (type: string): WantedAccount => ({
  toolkitName: "App",
  spec: {
    accountVariables: [{ name: "subdomain", description: "Your part of the address.", example: "acme" }],
    authSchemes: [{ type, defaultScopes: [] }],
  },
  expiresAt: "2026-03-04T05:06:07Z",
});
const filled = { "accountVariables.subdomain": " acme ", apiKey: "k", "basic.username": "u", "basic.password": " p " };

test("each scheme sends its own fields and no others, and secrets as they were typed", () => {
  const accountVariables = { subdomain: "acme" };
  expect(connectOf(wanted("api_key"), filled)).toEqual({ accountVariables, apiKey: "k" });
  expect(connectOf(wanted("basic"), filled)).toEqual({ accountVariables, basic: { username: "u", password: " p " } });
  for (const scheme of ["oauth2", "none"]) expect(connectOf(wanted(scheme), filled)).toEqual({ accountVariables });
});

test("what is secret is hidden while it is typed", () => {
  const secret = fieldsOf(wanted("basic")).filter(({ isSecret }) => isSecret);
  expect(secret.map(({ at }) => at)).toEqual(["basic.password"]);
});
