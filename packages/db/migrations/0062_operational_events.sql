-- Notices of schedules become operational events, with the same body for ask endpoints.
UPDATE "events" e SET "kind" = 'event', "toolkit_slug" = 'svc',
  "trigger_slug" = replace(e."payload"::json ->> 'type', 'standing_', 'svc.schedule_'),
  "payload" = regexp_replace(e."payload", '^\{"type":"[a-z_]+",', '{')
FROM (
  SELECT DISTINCT d."project_id", d."event_id" FROM "subscriptions" s
  JOIN "deliveries" d ON d."project_id" = s."project_id" AND d."subscription_id" = s."id"
  WHERE s."kind" = 'asks' AND s."event_types" <> '{}'
) n
WHERE e."project_id" = n."project_id" AND e."id" = n."event_id" AND e."kind" = 'notice';--> statement-breakpoint
DROP TABLE "standing_notices";--> statement-breakpoint
CREATE INDEX "subscriptions_operational" ON "subscriptions" USING btree ("project_id","id") WHERE toolkit_slug = 'svc' or event_types <> '{}';
