DROP INDEX "job_asks_project_pending";--> statement-breakpoint
CREATE INDEX "connected_accounts_toolkit" ON "connected_accounts" USING btree ((toolkit_slug || ' '),"project_id","id");--> statement-breakpoint
CREATE INDEX "connected_accounts_state" ON "connected_accounts" USING btree ((state || ' '),"project_id","id");--> statement-breakpoint
CREATE INDEX "connected_accounts_toolkit_state" ON "connected_accounts" USING btree ((state || ' ' || toolkit_slug),"project_id","id");--> statement-breakpoint
CREATE INDEX "connected_accounts_run_out" ON "connected_accounts" USING btree ("project_id","expires_at") WHERE state = 'active' and expires_at is not null;--> statement-breakpoint
CREATE INDEX "job_asks_state" ON "job_asks" USING btree ((state || ' '),"project_id","id");--> statement-breakpoint
CREATE INDEX "job_asks_principal" ON "job_asks" USING btree ((principal_id || ' '),"project_id","id");--> statement-breakpoint
CREATE INDEX "job_asks_principal_state" ON "job_asks" USING btree ((state || ' ' || principal_id),"project_id","id");