CREATE TABLE "audit_chains" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"key" "bytea" NOT NULL,
	"length" integer NOT NULL,
	"hash" "bytea" NOT NULL,
	"mac" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"actor" text NOT NULL,
	"actor_id" uuid,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"about_digest" "bytea",
	"outcome" text,
	"position" integer,
	"mac" "bytea",
	"hash" "bytea"
);
--> statement-breakpoint
CREATE INDEX "audit_events_project" ON "audit_events" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_action" ON "audit_events" USING btree ("action","id");--> statement-breakpoint
CREATE INDEX "audit_events_actor" ON "audit_events" USING btree ("actor_id","id") WHERE actor_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "audit_events_position" ON "audit_events" USING btree ("project_id","position") WHERE position is not null;--> statement-breakpoint
CREATE INDEX "audit_events_waiting" ON "audit_events" USING btree ("id") WHERE position is null;--> statement-breakpoint
-- In the transaction that enters the call, whichever statement does: no destructive call is sent without its row.
CREATE FUNCTION audit_sent_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO audit_events (id, project_id, at, actor, actor_id, action, subject, outcome)
	VALUES (NEW.id, NEW.project_id, NEW.created_at,
		CASE WHEN NEW.job_id IS NOT NULL THEN 'job' WHEN NEW.key_id IS NOT NULL THEN 'key' ELSE 'service' END,
		coalesce(NEW.job_id, NEW.key_id), 'ToolCall.Send', NEW.tool_slug, 'sent')
	ON CONFLICT (id) DO NOTHING;
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER tool_calls_audit AFTER INSERT ON tool_calls FOR EACH ROW
	WHEN (NEW.access_class = 'destructive'
		AND NEW.outcome NOT IN ('held', 'invalid_arguments', 'no_account', 'missing_scope', 'not_callable', 'not_bound'))
	EXECUTE FUNCTION audit_sent_call();
--> statement-breakpoint
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'a row of the audit log that stands in its chain is not changed';
END
$$;
--> statement-breakpoint
CREATE TRIGGER audit_events_keep BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW
	WHEN (OLD.position IS NOT NULL) EXECUTE FUNCTION refuse_audit_change();
