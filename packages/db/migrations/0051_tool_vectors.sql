CREATE TABLE "tool_vectors" (
	"digest" text PRIMARY KEY NOT NULL,
	"project_id" uuid,
	"vector" "bytea",
	"claimed_until" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tool_vectors" ADD CONSTRAINT "tool_vectors_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "tool_vectors_project" ON "tool_vectors" USING btree ("project_id","digest");--> statement-breakpoint
CREATE INDEX "tool_vectors_used" ON "tool_vectors" USING btree ("used_at");