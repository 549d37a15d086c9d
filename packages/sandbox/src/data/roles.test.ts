import { expect, test } from "vitest";
import { shipped } from "../test-apps.ts";
import { roleOf } from "./roles.ts";

/** Tools with their expected effect, the kind of their objects, and the argument with the object's id. */
const roles: [slug: string, verb: string, kind: string | undefined, idArgument: string | undefined][] = [
  ["issue_tracker.create_sub_issue", "create", "issue", undefined],
  ["issue_tracker.set_issue_priority", "update", "issue", "issue_id"],
  ["issue_tracker.move_issue_to_state", "update", "issue", "issue_id"],
  ["issue_tracker.add_label_to_issue", "other", undefined, undefined],
  ["issue_tracker.remove_label_from_issue", "other", undefined, undefined],
  ["issue_tracker.list_comments", "list", "comment", undefined],
  ["issue_tracker.list_sub_issues", "list", undefined, undefined],
  ["issue_tracker.create_issue_relation", "other", undefined, undefined],
  ["calendar.get_acl_rule", "read", "acl_rule", "rule_id"],
  ["calendar.quick_add_event", "create", "event", undefined],
  ["calendar.remove_calendar_from_list", "other", undefined, undefined],
  ["email_marketing.add_or_update_list_member", "create", "list_member", "subscriber_hash"],
  ["email_marketing.delete_segment", "delete", "segment", "segment_id"],
  ["email_marketing.get_list_member", "read", "list_member", "subscriber_hash"],
  ["email_marketing.replicate_campaign", "create", "campaign", undefined],
  ["email_marketing.send_campaign", "update", "campaign", "campaign_id"],
  ["esignature.send_signature_request_with_template", "create", "signature_request", undefined],
  ["notes_wiki.query_database", "list", undefined, undefined],
  ["payments_checkout.get_payment_links_link_id", "read", "payment_link", "linkId"],
  ["payments_checkout.post_payment_links", "create", "payment_link", undefined],
  ["payments_checkout.patch_payment_links_link_id", "update", "payment_link", "linkId"],
  ["sales_crm.get_organization", "read", "organization", "org_id"],
  ["sales_crm.list_deal_products", "list", undefined, undefined],
  ["scheduling.get_invitee_no_show", "read", "invitee_no_show", "no_show_uuid"],
  ["search_engine.upsert_alias", "create", "alias", "aliasName"],
  ["vector_db.create_collection", "create", "collection", "collection_name"],
  ["work_mgmt.duplicate_board", "create", "board", undefined],
];

test.each(roles)("%s is a %s of %s", (slug, verb, kind, idArgument) => {
  const action = shipped.tools.get(slug);
  const toolkit = shipped.toolkits.get(action?.toolkitSlug ?? "");
  if (action?.kind !== "action" || toolkit === undefined) throw new Error(`${slug} is not there`);
  const role = roleOf(toolkit, action);
  expect({ verb: role.verb, kind: role.kind?.name, idArgument: role.idArgument }).toEqual({ verb, kind, idArgument });
});

test("most tools that create, and all that read one object by its id, are paired", () => {
  const all = [...shipped.toolkits.values()].flatMap((toolkit) =>
    toolkit.actions.map((action) => roleOf(toolkit, action)),
  );
  const count = (verb: string) => all.filter((role) => role.verb === verb).length;
  expect(count("create")).toBeGreaterThanOrEqual(80);
  expect(count("read")).toBeGreaterThanOrEqual(65);
  expect(count("update")).toBeGreaterThanOrEqual(90);
  expect(count("delete")).toBeGreaterThanOrEqual(55);
});
