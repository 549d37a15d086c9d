import { letIn, registerAgent } from "@svc/testing/agent";
import type { Area } from "../area.ts";

/** Pages of a project's settings and of the signed-in sessions. */
export const settings: Area = {
  seed: async (svc) => {
    await svc.call("svc.v1.SecretsService/PutSecret", { name: "billing_token", value: "a-value-of-the-pages" });
    const limit = { name: "crm", toolkitSlug: "sales_crm", concurrency: 4, rate: { max: 100, per: "60s" } };
    await svc.call("svc.v1.ToolsService/PutCallLimit", { limit });
    for (const name of ["Notes helper", "Deal helper"]) {
      const agent = await registerAgent(svc.url, { name });
      await agent.change((await letIn(svc, agent)).get("code") ?? "");
    }
    const { grants } = (await svc.call("svc.v1.GrantsService/ListGrants", {})).json;
    await svc.call("svc.v1.GrantsService/RevokeGrant", { id: grants[0].id });
    await svc.call("svc.v1.GrantsService/CreateAgentKey", { name: "Assistant of ada", entityId: "ada" });
    const look = { name: "Acme", color: "#1a73e8", origins: ["https://app.example.com"] };
    await svc.call("svc.v1.TriggersService/PutEventSettings", { settings: { portal: look } });
    await svc.call("svc.v1.TriggersService/CreatePortalLink", { entityId: "ada", readOnly: true });
    return {};
  },
  pages: [
    {
      name: "settings",
      path: () => "settings",
      shows: async (page) => {
        await page.getByRole("region", { name: "Your key" }).getByText("Key id").waitFor();
        await page.getByRole("list", { name: "Sessions" }).getByRole("listitem").first().waitFor();
      },
    },
    {
      name: "settings-browser",
      path: () => "settings?tab=browser",
      shows: (page) => page.getByRole("radio", { name: "UTC", exact: true }).waitFor(),
    },
    {
      name: "settings-agents",
      path: () => "settings?tab=agents",
      shows: async (page) => {
        await page.getByRole("list", { name: "Grants" }).getByText("Notes helper").waitFor();
        await page.getByText("One has ended").waitFor();
        await page.getByRole("list", { name: "Keys for agents" }).getByText("Assistant of ada").waitFor();
      },
    },
    {
      name: "settings-secrets",
      path: () => "settings?tab=secrets",
      shows: (page) => page.getByText("billing_token").waitFor(),
    },
    {
      name: "settings-limits",
      path: () => "settings?tab=limits",
      shows: (page) => page.getByText("4 at once, 100 in 1 min").waitFor(),
    },
    {
      name: "settings-portal",
      path: () => "settings?tab=portal",
      shows: async (page) => {
        await page.getByText("https://app.example.com").waitFor();
        await page.getByRole("list", { name: "Portal links" }).getByText("ada, only for reading").waitFor();
      },
    },
    {
      name: "settings-deployment",
      path: () => "settings?tab=deployment",
      shows: (page) => page.getByText("Events and finished deliveries").waitFor(),
    },
  ],
};
