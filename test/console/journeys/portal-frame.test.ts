import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificate } from "@svc/testing/certificate";
import { startTestReceiver } from "@svc/testing/receiver";
import type { Frame, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest, type ConsolePage, startConsole } from "../browser.ts";

// The portal in a frame of another site, over https: a browser keeps the session of such a frame only with a cookie that is
// `SameSite=None; Secure; Partitioned`. The certificates are self-signed, and the browser of the tests accepts them.

const tls = createCertificate();
/** Accepts TLS and passes each request on to the service, as a proxy in front of it does. */
const proxy = createServer(tls, (req, res) => {
  const { hostname, port } = new URL(consoles.svc.url);
  const passed = request({ hostname, port, method: req.method, path: req.url, headers: req.headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  passed.once("error", () => res.destroy());
  req.pipe(passed);
});
proxy.listen(0, "127.0.0.1");
await once(proxy, "listening");
const origin = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
const consoles = startConsole({ variables: { SVC_PUBLIC_URL: origin } });

/** Serves the pages of products that embed the portal, under several names. */
const products = await startTestReceiver({ tls });
const product = `https://localhost:${products.port}`;
const other = `https://console.test:${products.port}`;
const unnamed = `https://127.0.0.1:${products.port}`;

beforeAll(async () => {
  if (!consoles.isStarted) return;
  await call("PutEventSettings", { settings: { portal: { name: "Acme", origins: [product, other] } } });
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await products[Symbol.asyncDispose]();
});

async function call(name: string, body: object) {
  const { status, json } = await consoles.svc.call(`svc.v1.TriggersService/${name}`, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

/** Opens a page of a product that embeds an address of the portal. */
async function embed({ page, faults }: ConsolePage, at: string, address: string): Promise<Page> {
  for (const one of [at, origin]) faults.expectOrigin(one);
  const body = `<!doctype html><h1>The product</h1><iframe width="900" height="700" src="${address}"></iframe>`;
  products.script((_req, res) => {
    res.writeHead(200, { "content-type": "text/html" }).end(body);
  });
  await page.goto(`${at}/`);
  return page;
}

const frameOf = (page: Page): Frame => page.frames()[1] ?? page.mainFrame();

browserTest("a product's page shows the portal in a frame, which stays signed in, and only there", async () => {
  const shown = await consoles.open({ key: null });
  const { url } = await call("CreatePortalLink", { entityId: "ada" });
  const address = url.slice(0, url.indexOf("#"));
  const page = await embed(shown, product, url);
  const endpoints = () => page.frameLocator("iframe").getByText("No endpoint yet");
  await endpoints().waitFor();
  expect(frameOf(page).url()).toBe(`${address}endpoints`);
  const cookies = (await page.context().cookies(origin)).filter(({ name }) => name.includes("portal"));
  expect(cookies).toMatchObject([{ httpOnly: true, secure: true, sameSite: "None" }]);
  expect(cookies[0]?.name).toMatch(/^__Host-svc_portal_framed_\d+$/);
  // The session continues without the link, and makes calls.
  await embed(shown, product, address);
  await endpoints().waitFor();
  await page.frameLocator("iframe").getByRole("link", { name: "New endpoint" }).click();
  await page.frameLocator("iframe").getByLabel("Endpoint").fill("http://127.0.0.1:9/of-ada");
  await page.frameLocator("iframe").getByRole("button", { name: "Create the endpoint" }).click();
  await page
    .frameLocator("iframe")
    .getByText(/^whsec_/)
    .waitFor();
  const { subscriptions } = await call("ListSubscriptions", { entityId: "ada" });
  expect(subscriptions).toMatchObject([{ endpointUrl: "http://127.0.0.1:9/of-ada", origin: "portal" }]);
  // The browser sends the cookie for the product's site alone. The tests' browser shares the storage of the page between sites.
  shown.faults.expectStatus(401);
  await embed(shown, other, address);
  await page
    .frameLocator("iframe")
    .getByRole("heading", { name: /Your access has ended|Open your link again/ })
    .waitFor();
  await page.goto(address);
  await page.getByRole("heading", { name: "Open your link again" }).waitFor();
});

browserTest("a link of another customer in the frame signs in only after a question", async () => {
  const shown = await consoles.open({ key: null });
  const page = await embed(shown, product, (await call("CreatePortalLink", { entityId: "bob" })).url);
  const portal = page.frameLocator("iframe");
  await portal.getByText("Signed in as bob").waitFor();
  const other = await call("CreatePortalLink", { entityId: "cy" });
  await embed(shown, product, other.url);
  await portal.getByRole("heading", { name: "Sign in as cy?" }).waitFor();
  await portal.getByRole("button", { name: "Stay signed in as bob" }).click();
  await portal.getByText("Signed in as bob").waitFor();
  await embed(shown, product, other.url);
  await portal.getByRole("button", { name: "Sign in as cy" }).click();
  await portal.getByText("Signed in as cy").waitFor();
});

browserTest("a site that the project does not name cannot embed the portal", async () => {
  const shown = await consoles.open({ key: null });
  shown.faults.expectStatus(0);
  const page = await embed(shown, unnamed, (await call("CreatePortalLink", { entityId: "dee" })).url);
  await expect.poll(() => shown.faults.seen.join()).toContain("frame-ancestors");
  expect(await page.frameLocator("iframe").getByText("Endpoints").count()).toBe(0);
  shown.faults.seen.splice(0);
});
