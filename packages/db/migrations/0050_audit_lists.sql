DROP INDEX "audit_events_project";--> statement-breakpoint
DROP INDEX "audit_events_actor";--> statement-breakpoint
CREATE INDEX "standing_programs_project" ON "standing_programs" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_project" ON "audit_events" USING btree ("project_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_events_actor" ON "audit_events" USING btree ((actor || coalesce(actor_id::text, '')),"project_id","action","id");