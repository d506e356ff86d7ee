// TeamCity, a build type of .teamcity/settings.kts. Parameters: env.HEAPDRIFT_URL, env.HEAPDRIFT_TOKEN (a password); for the comment in the pull request
// env.GITHUB_TOKEN (a password) and the build feature "Pull Requests", which sets teamcity.pullRequest.number.
// Exit 4 (inconclusive) warns and does not fail the job. The trigger takes the default branch and pull requests, so a branch with a pull
// request runs once. A fork has no secrets here: with "Members of the same organization" in the feature, its pull request is not built.
object Soak : BuildType({
    name = "Soak"
    artifactRules = "comment.md"
    vcs { root(DslContext.settingsRoot) }
    triggers { vcs { branchFilter = "+:<default>\n+:pull/*" } }
    steps {
        powerShell { scriptMode = script { content = "./ci/get-heapdrift.ps1" } }
        script { scriptContent = "build.cmd" }
        powerShell { scriptMode = script { content = "./ci/record.ps1 -Program out/Release/shop.exe" } }
        script { scriptContent = "git rev-list --first-parent -200 HEAD > ancestors.txt" } // needs the checkout mode on the agent
        powerShell {
            scriptMode = script {
                content = """
                    ./heapdrift push --ancestors ancestors.txt --scenario soak --fail-on "new,grown" --symbols out/Release --junit junit.xml --markdown comment.md "umdh/*.txt"
                    if (${'$'}LASTEXITCODE -eq 4) { "##teamcity[buildStatus text='heapdrift: inconclusive. {build.status.text}']"; exit 0 }
                    exit ${'$'}LASTEXITCODE
                """.trimIndent()
            }
        }
        powerShell {
            executionMode = BuildStep.ExecutionMode.ALWAYS
            conditions { exists("teamcity.pullRequest.number") }
            scriptMode = script { content = "./ci/github-comment.ps1 -Repository acme/shopd -PullRequest %teamcity.pullRequest.number%" }
        }
    }
    features {
        feature {
            type = "xml-report-plugin"
            param("xmlReportParsing.reportType", "junit")
            param("xmlReportParsing.reportDirs", "junit.xml")
        }
    }
})
