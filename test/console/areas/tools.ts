import type { Area } from "../area.ts";

/** Pages of tools, of the ledger of calls, and of the accounts that calls use. */
export const tools: Area = {
  seed: async (svc) => {
    const connect = async (toolkitSlug: string, entityId: string) =>
      (
        await svc.call("svc.v1.ConnectionsService/InitiateConnection", {
          toolkitSlug,
          entityId,
          scheme: "api_key",
          apiKey: "key-of-the-area",
        })
      ).json.account.id;
    const callTool = async (toolSlug: string, entityId: string, args: object) =>
      (await svc.call("svc.v1.ToolsService/CallTool", { toolSlug, entityId, argumentsJson: JSON.stringify(args) })).json
        .callId;
    const account = await connect("messaging_bot", "ada");
    await connect("sales_crm", "ops");
    const call = await callTool("messaging_bot.send_message", "ada", { chat_id: "4711", text: "We are live" });
    await callTool("messaging_bot.delete_message", "ada", { chat_id: "4711", message_id: 7 });
    await callTool("sales_crm.list_deals", "nobody", {});
    return { account, call };
  },
  pages: [
    {
      name: "tools-found",
      path: () => "tools?q=delete+a+message+of+a+chat&toolkit=messaging_bot&class=destructive",
      shows: (page) => page.getByRole("link", { name: "messaging_bot.delete_message", exact: true }).waitFor(),
    },
    {
      name: "tool",
      path: () => "tools/messaging_bot.send_message",
      shows: async (page) => {
        await page.getByText("2 things are to be mended first").waitFor();
        // The page asks for the account's owner next to the definition, and checks the call again with that owner.
        await page.getByText("Has an active account of messaging_bot.").waitFor();
        await page.getByRole("button", { name: "Send in the sandbox", disabled: false }).waitFor();
      },
    },
    {
      name: "tool-as-json",
      path: ({ call }) => `tools/messaging_bot.send_message?args=json&from=${call}&as=typescript`,
      shows: (page) => page.getByText("POST https://").waitFor(),
    },
    {
      name: "toolkit",
      path: () => "toolkits/messaging_bot",
      shows: (page) => page.getByRole("link", { name: "messaging_bot.send_message", exact: true }).waitFor(),
    },
    {
      name: "toolkit-publish",
      path: () => "tools/publish",
      shows: (page) => page.getByText("It can be published").waitFor(),
    },
    {
      name: "calls",
      path: ({ call }) => `calls?live=off&open=${call}`,
      shows: (page) => page.getByRole("region", { name: "Result" }).getByText("We are live").waitFor(),
    },
    {
      name: "call",
      path: ({ call }) => `calls/${call}`,
      shows: (page) => page.getByRole("region", { name: "Result" }).getByText("We are live").waitFor(),
    },
    {
      name: "accounts",
      path: () => "accounts",
      shows: (page) => page.getByRole("row", { name: "sales_crm" }).waitFor(),
    },
    {
      name: "account",
      path: ({ account }) => `accounts/${account}`,
      shows: (page) => page.getByText("needs a scope in particular").waitFor(),
    },
    {
      name: "connect",
      path: () => "accounts?connect=work_mgmt&for=ada",
      shows: (page) => page.getByRole("button", { name: "Go on to the app" }).waitFor(),
    },
  ],
};
