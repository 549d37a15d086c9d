CREATE TABLE "routing_shards" (
	"project_id" uuid NOT NULL,
	"shard" smallint NOT NULL,
	"version" bigint NOT NULL,
	"subscriptions" integer NOT NULL,
	CONSTRAINT "routing_shards_key" PRIMARY KEY("project_id","shard")
);
--> statement-breakpoint
ALTER TABLE "routing_shards" ADD CONSTRAINT "routing_shards_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "subscriptions_entity" ON "subscriptions" USING btree ("project_id","entity_id","id") WHERE entity_id <> '';--> statement-breakpoint
CREATE INDEX "subscriptions_general" ON "subscriptions" USING btree ("project_id","id") WHERE entity_id = '';--> statement-breakpoint
ALTER TABLE "routing_shards" SET (fillfactor = 50);--> statement-breakpoint
-- The shard of an entity: its number does not depend on the server, so that it stays the same in a copy of the database.
CREATE FUNCTION routing_shard(entity text) RETURNS int2 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT (get_byte(sha256(replace(entity, '\', '\\')::bytea), 0) % 16)::int2 $$;--> statement-breakpoint
-- Moves the version of a subscription's shard. It runs at the end of the transaction, which has locked the project's row before: so two
-- transactions that change several shards of a project run one after the other and cannot deadlock. A deletion adds no row, because the
-- transaction may also have deleted the project.
CREATE FUNCTION move_routing_shard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE routing_shards SET version = version + 1, subscriptions = subscriptions - 1
    WHERE project_id = OLD.project_id AND shard = routing_shard(OLD.entity_id);
  ELSE
    INSERT INTO routing_shards AS r (project_id, shard, version, subscriptions)
    VALUES (NEW.project_id, routing_shard(NEW.entity_id), 1, (TG_OP = 'INSERT')::int4)
    ON CONFLICT (project_id, shard)
    DO UPDATE SET version = r.version + 1, subscriptions = r.subscriptions + excluded.subscriptions;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE CONSTRAINT TRIGGER subscriptions_shard_insert AFTER INSERT ON subscriptions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.entity_id <> '') EXECUTE FUNCTION move_routing_shard();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER subscriptions_shard_delete AFTER DELETE ON subscriptions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.entity_id <> '') EXECUTE FUNCTION move_routing_shard();--> statement-breakpoint
-- Only changes of columns that nodes cache count. The health of the endpoint is not among them.
CREATE CONSTRAINT TRIGGER subscriptions_shard_update AFTER UPDATE ON subscriptions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.entity_id <> '' AND
    (OLD.active, OLD.endpoint_url, OLD.toolkit_slug, OLD.trigger_slug, OLD.trigger_slugs, OLD.signing_secret, OLD.mcp_id, OLD.cursor,
      OLD.expires_at, OLD.former_secret, OLD.former_until, OLD.settings, OLD.credentials)
    IS DISTINCT FROM
    (NEW.active, NEW.endpoint_url, NEW.toolkit_slug, NEW.trigger_slug, NEW.trigger_slugs, NEW.signing_secret, NEW.mcp_id, NEW.cursor,
      NEW.expires_at, NEW.former_secret, NEW.former_until, NEW.settings, NEW.credentials))
  EXECUTE FUNCTION move_routing_shard();--> statement-breakpoint
-- The triggers exist from here on, so this counts every subscription exactly once.
INSERT INTO routing_shards (project_id, shard, version, subscriptions)
  SELECT project_id, routing_shard(entity_id), 1, count(*)::int4 FROM subscriptions WHERE entity_id <> '' GROUP BY 1, 2;
