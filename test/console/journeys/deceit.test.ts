import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { seedPeople, submitProgram } from "../jobs-seed.ts";
import { calendarSecret } from "../post-calendar.ts";

// Texts and addresses from other people that are made to look like something else.
const consoles = startConsole({ seed: seedPeople });

/** The control characters around the digits make a reader see `1000`. */
const amount = "\u202e0001\u202c";
const named = "⟨U+202E⟩0001⟨U+202C⟩";
const markup = '<img src="x" onerror="window.deceived = 1">';

async function askOf(point: object): Promise<{ jobId: string; requestId: string }> {
  const jobId = await submitProgram(consoles.svc, {
    version: 1,
    title: `Pays ${amount} ${markup}`,
    steps: [
      { id: "gate", judge: "sure" },
      {
        ...{ id: "send", call: "messaging_bot.send_message", entity: "ops" },
        args: { chat_id: "@team\u200b", text: `Pay ${amount} EUR` },
      },
    ],
    points: { sure: { question: `Pay ${amount} EUR? ${markup}`, ...point } },
  });
  let requestId = "";
  await until(async () => {
    requestId = (await consoles.svc.call("svc.v1.JobsService/ListAsks", { jobId })).json.asks[0]?.requestId ?? "";
    return requestId !== "";
  });
  return { jobId, requestId };
}

browserTest("a plan to approve shows what nobody sees and what turns its neighbours, by their names", async () => {
  const { jobId, requestId } = await askOf({ approval: true });
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/asks/${jobId}/${requestId}` });
  await page.getByRole("heading", { level: 1, name: `Pay ${named} EUR? ${markup}` }).waitFor();
  const plan = page.getByRole("region", { name: "Exactly what will run" });
  await plan.getByText(`"text": "Pay ${named} EUR"`).waitFor();
  await plan.getByText('"chat_id": "@team⟨U+200B⟩"').waitFor();
  await page.getByText(`Pays ${named} ${markup}`).first().waitFor();
  await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/asks`);
  await page.getByText(`Pay ${named} EUR? ${markup}`).first().waitFor();
  await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/programs/new?from=${jobId}`);
  await page.getByRole("radio", { name: "JSON" }).check();
  await page.getByRole("textbox", { name: "Program" }).getByText(named).first().waitFor();
  expect(await page.evaluate("window.deceived")).toBeUndefined();
});

browserTest("so does the page of an answer link", async () => {
  const asked = await askOf({ continuations: ["proceed", "abort"], escalation: [{ principal: "lead" }] });
  const { json } = await consoles.svc.call("svc.v1.JobsService/CreateAnswerLink", { ...asked, principalId: "lead" });
  const { page } = await consoles.open({ key: null, path: json.url.split("/console/")[1], isPhone: true });
  await page.getByText(`Pay ${named} EUR? ${markup}`).waitFor();
  expect(await page.evaluate("window.deceived")).toBeUndefined();
});

browserTest("a page survives an address whose parameters are none that it knows", async () => {
  const { page } = await consoles.open();
  for (const [path, heading] of [
    ["events?since=never&until=2&range=7y", "Events"],
    ["deliveries?since=never&state=lost", "Deliveries"],
    ["calls?since=never&outcome=__proto__", "Calls"],
    ["jobs?until=never&show=constructor", "Jobs"],
    ["home?since=never&until=never&range=x", "Home"],
  ] as const) {
    await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/${path}`);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  }
});

browserTest("a post that is nested 20,000 levels deep is shown", async () => {
  const body = `${"[".repeat(20_000)}"deepest"${"]".repeat(20_000)}`;
  await fetch(`${consoles.svc.url}/webhooks/calendar?token=${calendarSecret}`, { method: "POST", body });
  const { posts } = (await consoles.svc.admin("ListQuarantinedPosts", {})).json;
  const { page } = await consoles.open({ key: consoles.svc.adminToken, path: `admin/quarantine/${posts[0].id}` });
  await page.getByRole("heading", { level: 2, name: "Body, 40,009 bytes" }).waitFor();
  await page.getByRole("textbox", { name: "body" }).getByText("[").first().waitFor();
  await page.getByRole("tab", { name: "Bytes" }).click();
  await page.getByText("5b 5b 5b 5b").first().waitFor();
});
