import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sandboxAuthorizePath, sandboxTokenUrl } from "../index.ts";
import { callbackUrl, createApps } from "../test-apps.ts";

const verifier = "v".repeat(43);
const challenge = createHash("sha256").update(verifier).digest("base64url");

type TokenAnswer = { readonly status: number; readonly access_token?: string; readonly refresh_token?: string };
type Apps = ReturnType<typeof createApps>;

function authorizeUrl(changes: Record<string, string | undefined> = {}): URL {
  const asked = {
    toolkit: "calendar",
    client_id: "sandbox",
    redirect_uri: callbackUrl,
    response_type: "code",
    scope: "read write",
    state: "s&1",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...changes,
  };
  const url = new URL(sandboxAuthorizePath, "http://127.0.0.1:8080");
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** Opens the consent page and presses a button on it. Returns the redirect. */
function decide({ oauth }: Apps, decision: string, url: URL = authorizeUrl()): URL {
  const page = oauth.authorizePage(url);
  if (!("html" in page)) throw new Error(`redirected to ${page.redirect}`);
  const [, request = ""] = /name="request" value="([^"]+)"/.exec(page.html) ?? [];
  const next = oauth.decide(new URLSearchParams({ request, decision }));
  if (!("redirect" in next)) throw new Error(next.html);
  return new URL(next.redirect);
}

async function token({ oauth }: Apps, fields: Record<string, string>, toolkit = "calendar"): Promise<TokenAnswer> {
  const body = new URLSearchParams({ client_id: "sandbox", ...fields });
  const response = await oauth.fetch(sandboxTokenUrl(toolkit), { method: "POST", body });
  return { ...((await response.json()) as Record<string, string>), status: response.status };
}

function exchange(apps: Apps, code: string, changes: Record<string, string> = {}, toolkit = "calendar") {
  const fields = { grant_type: "authorization_code", code, redirect_uri: callbackUrl, code_verifier: verifier };
  return token(apps, { ...fields, ...changes }, toolkit);
}

function codeOf(url: URL): string {
  const code = url.searchParams.get("code");
  if (code === null) throw new Error(`no code in ${url.href}`);
  return code;
}

test("consent leads to a code, and the code to tokens that the app accepts", async () => {
  const apps = createApps();
  const back = decide(apps, "allow");
  expect(`${back.origin}${back.pathname}`).toBe(callbackUrl);
  expect(back.searchParams.get("state")).toBe("s&1");
  const answer = await exchange(apps, codeOf(back));
  expect(answer).toMatchObject({ status: 200, token_type: "Bearer", expires_in: 3600, scope: "read write" });
  const change = (request: object) =>
    ({ ...request, headers: { authorization: `Bearer ${answer.access_token}` } }) as never;
  expect((await apps.call("calendar.list_calendars", {}, { change })).status).toBe(200);
});

test("denial goes back as access_denied with the state", () => {
  const back = decide(createApps(), "deny");
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: "access_denied", state: "s&1" });
});

test("a code is good once, for its app, its redirect address and its verifier", async () => {
  const apps = createApps();
  const code = codeOf(decide(apps, "allow"));
  const refused = { status: 400, error: "invalid_grant" };
  expect(await exchange(apps, code, { code_verifier: "w".repeat(43) })).toMatchObject(refused);
  expect(await exchange(apps, code, { redirect_uri: "http://127.0.0.1:8080/other" })).toMatchObject(refused);
  expect(await exchange(apps, code, {}, "scheduling")).toMatchObject(refused);
  expect(await exchange(apps, `${code}x`)).toMatchObject(refused);
  expect(await exchange(createApps(), code)).toMatchObject(refused);
  expect(await exchange(apps, code)).toMatchObject({ status: 200 });
  expect(await exchange(apps, code)).toMatchObject(refused);
});

test("a code expires after a minute, a consent page after ten", async () => {
  const apps = createApps();
  const code = codeOf(decide(apps, "allow"));
  apps.clock.advance(60_000);
  expect(await exchange(apps, code)).toMatchObject({ status: 400, error: "invalid_grant" });
  const page = apps.oauth.authorizePage(authorizeUrl());
  const [, request = ""] = /name="request" value="([^"]+)"/.exec("html" in page ? page.html : "") ?? [];
  apps.clock.advance(600_000);
  expect(apps.oauth.decide(new URLSearchParams({ request, decision: "allow" }))).toMatchObject({ status: 400 });
});

test("a form that no page of ours showed leads nowhere", () => {
  const { oauth } = createApps();
  expect(oauth.decide(authorizeUrl().searchParams)).toMatchObject({ status: 400 });
  expect(oauth.decide(new URLSearchParams())).toMatchObject({ status: 400 });
});

test("a refresh token is replaced when used, and the old one is worth nothing", async () => {
  const apps = createApps();
  const first = await exchange(apps, codeOf(decide(apps, "allow")));
  const fields = { grant_type: "refresh_token", refresh_token: first.refresh_token ?? "" };
  const second = await token(apps, fields);
  expect(second).toMatchObject({ status: 200, scope: "read write" });
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await token(apps, fields)).toMatchObject({ status: 400, error: "invalid_grant" });
  const third = { ...fields, refresh_token: second.refresh_token ?? "" };
  expect(await token(apps, { ...third, scope: "admin" })).toMatchObject({ status: 400, error: "invalid_scope" });
  expect(await token(apps, { ...third, scope: "read" })).toMatchObject({ status: 200, scope: "read" });
});

test("an app without refresh gives no refresh token", async () => {
  const apps = createApps();
  const code = codeOf(decide(apps, "allow", authorizeUrl({ toolkit: "notes_wiki" })));
  const answer = await exchange(apps, code, {}, "notes_wiki");
  expect(answer).toMatchObject({ status: 200 });
  expect(answer).not.toHaveProperty("refresh_token");
});

test("client credentials give an access token alone", async () => {
  const answer = await token(createApps(), { grant_type: "client_credentials", scope: "read" });
  expect(answer).toMatchObject({ status: 200, scope: "read" });
  expect(answer).not.toHaveProperty("refresh_token");
});

test("the token endpoint speaks RFC 6749", async () => {
  const apps = createApps();
  const { oauth } = apps;
  expect(await token(apps, { grant_type: "password" })).toMatchObject({ status: 400, error: "unsupported_grant_type" });
  expect(await token(apps, {})).toMatchObject({ status: 400, error: "invalid_request" });
  expect(await token(apps, { client_id: "other" })).toMatchObject({ status: 401, error: "invalid_client" });
  const basic = { authorization: `Basic ${btoa("sandbox:any")}` };
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  const answer = await oauth.fetch(new Request(sandboxTokenUrl("calendar"), { method: "POST", headers: basic, body }));
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect((await oauth.fetch(sandboxTokenUrl("calendar"))).status).toBe(405);
  expect((await oauth.fetch("https://elsewhere.invalid/calendar/token", { method: "POST" })).status).toBe(404);
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  expect((await oauth.fetch(sandboxTokenUrl("calendar"), json)).status).toBe(400);
});

test.each([
  ["another redirect address", { redirect_uri: "https://elsewhere.example/callback" }],
  ["a longer redirect address", { redirect_uri: `${callbackUrl}/more` }],
  ["no redirect address", { redirect_uri: undefined }],
  ["another client", { client_id: "other" }],
  ["a toolkit that cannot be one", { toolkit: "../calendar" }],
])("%s is an error page and never a redirect", (_what, changes) => {
  expect(createApps().oauth.authorizePage(authorizeUrl(changes))).toMatchObject({
    status: 400,
    html: expect.any(String),
  });
});

test("a parameter given twice is refused", () => {
  const url = authorizeUrl();
  url.searchParams.append("redirect_uri", "https://elsewhere.example");
  expect(createApps().oauth.authorizePage(url)).toMatchObject({ status: 400 });
});

test.each([
  ["unsupported_response_type", { response_type: "token" }],
  ["invalid_request", { code_challenge: undefined }],
  ["invalid_request", { code_challenge_method: "plain" }],
])("%s goes back to the callback", (error, changes) => {
  const back = createApps().oauth.authorizePage(authorizeUrl(changes));
  if (!("redirect" in back)) throw new Error("a page was shown");
  expect(back.redirect.startsWith(callbackUrl)).toBe(true);
  expect(new URL(back.redirect).searchParams.get("error")).toBe(error);
});

test("the page names app and scopes, runs no script, and lets nothing out of its place", () => {
  const page = createApps().oauth.authorizePage(
    authorizeUrl({ scope: `read {scope_base}/calendar.events "><script>alert(1)</script>`, state: "'\"<b>" }),
  );
  if (!("html" in page)) throw new Error("redirected");
  expect(page.status).toBe(200);
  expect(page.html).toContain("<h1>Connect Calendar</h1>");
  expect(page.html).toContain("<code>read</code>");
  // The scope is shown without its prefix, because the deployment does not set one.
  expect(page.html).toContain("<code>calendar.events</code>");
  expect(page.html).toContain("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(page.html).not.toMatch(/<script|<style|style=|\son\w+=|<b>/i);
  expect(page.html).toMatch(/<button type="submit" name="decision" value="allow">Allow<\/button>/);
  expect(page.html).toMatch(/<button type="submit" name="decision" value="deny">Deny<\/button>/);
  expect(page.html).toContain('<html lang="en">');
});
