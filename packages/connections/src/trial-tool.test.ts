import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { chooseTestTool } from "./trial-tool.ts";

test("each shipped toolkit is tried with the read that its definition names, or with its smallest harmless one", async () => {
  const { toolkits } = await shippedCatalog();
  const chosen = [...toolkits.values()].map((toolkit) => {
    const tool = chooseTestTool(toolkit);
    const how = tool && `${tool.action.request.method} ${tool.action.name} ${JSON.stringify(tool.args)}`;
    return [toolkit.slug, tool?.isDeclared === true ? `${how} declared` : (how ?? "none")];
  });
  expect(Object.fromEntries(chosen)).toEqual({
    bank_link: "none",
    calendar: "GET get_colors {}",
    data_pipeline: "GET get_workspace {} declared",
    email_marketing: "none",
    esignature: "GET get_account {} declared",
    incident_mgmt: 'GET list_priorities {"limit":1}',
    issue_tracker: "POST get_current_user {} declared",
    messaging_bot: "GET get_me {} declared",
    notes_wiki: "GET list_users {}",
    payments_checkout: "GET get_stored_payment_methods {}",
    sales_crm: "GET list_pipelines {}",
    scheduling: "GET get_current_user {} declared",
    search_engine: "GET get_aliases {}",
    search_ingestion: 'GET list_transformations {"itemsPerPage":1}',
    vector_db: "GET get_collections {}",
    work_mgmt: "POST list_boards {}",
  });
});

test("a tool is chosen only if it reads, takes no arguments, needs the credential and answers no secrets", async () => {
  for (const toolkit of (await shippedCatalog()).toolkits.values()) {
    const tool = chooseTestTool(toolkit);
    if (tool === undefined) continue;
    const { action, args } = tool;
    expect(action).toMatchObject({ class: "read", callable: true, replacedBy: undefined });
    expect(action.inputSchema["required"] ?? []).toEqual([]);
    expect(action.validateInput(args)).toEqual([]);
    expect(action.name).not.toMatch(/health|ping|version|keys|secret|token/);
  }
});
