CREATE TABLE "sweep_turns" (
	"sweep" text PRIMARY KEY NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "replays_unfinished";--> statement-breakpoint
DROP INDEX "subscriptions_operational";--> statement-breakpoint
CREATE INDEX "subscriptions_unhealthy" ON "subscriptions" USING btree ("project_id","active") WHERE (case when active then failing_since is not null else inactive_reason in ('failing', 'gone') end);--> statement-breakpoint
CREATE INDEX "replays_unfinished" ON "replays" USING btree ("project_id","subscription_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_operational" ON "subscriptions" USING btree ("project_id","entity_id","id") WHERE toolkit_slug = 'svc' or event_types <> '{}';--> statement-breakpoint
-- Moves the version of a subscription's shard, as before. New: a transaction that only seals values again (`svc.reseals`) moves no shard. The
-- first row of a project also moves the version of the project's routing. A node that has read the project before then learns of its shards.
CREATE OR REPLACE FUNCTION move_routing_shard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE routing_shards SET version = version + 1, subscriptions = subscriptions - 1
    WHERE project_id = OLD.project_id AND shard = routing_shard(OLD.entity_id);
  ELSIF TG_OP = 'INSERT' OR current_setting('svc.reseals', true) IS DISTINCT FROM 'on' THEN
    IF NOT EXISTS (SELECT FROM routing_shards WHERE project_id = NEW.project_id) THEN
      UPDATE projects SET routing_version = routing_version + 1 WHERE id = NEW.project_id;
    END IF;
    INSERT INTO routing_shards AS r (project_id, shard, version, subscriptions)
    VALUES (NEW.project_id, routing_shard(NEW.entity_id), 1, (TG_OP = 'INSERT')::int4)
    ON CONFLICT (project_id, shard)
    DO UPDATE SET version = r.version + 1, subscriptions = r.subscriptions + excluded.subscriptions;
  END IF;
  RETURN NULL;
END $$;
