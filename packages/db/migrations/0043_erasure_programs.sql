CREATE TABLE "erasure_programs" (
	"erasure_id" uuid NOT NULL,
	"digest" "bytea" NOT NULL,
	CONSTRAINT "erasure_programs_key" PRIMARY KEY("erasure_id","digest")
);
--> statement-breakpoint
DROP INDEX "audit_events_project";--> statement-breakpoint
DROP INDEX "audit_events_actor";--> statement-breakpoint
CREATE INDEX "audit_events_project" ON "audit_events" USING btree ("project_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_events_actor" ON "audit_events" USING btree ((actor || coalesce(actor_id::text, '')),"project_id","action","id");