// TeamCity, a build type of .teamcity/settings.kts. Parameters: env.HEAPDRIFT_URL, env.HEAPDRIFT_TOKEN (a password).
object Soak : BuildType({
    name = "Soak"
    artifactRules = "comment.md"
    vcs { root(DslContext.settingsRoot) }
    steps {
        script { scriptContent = "build.cmd" }
        powerShell { scriptMode = script { content = "./ci/record.ps1 -Program out/Release/shop.exe" } }
        script { scriptContent = "heapdrift push --scenario soak --fail-on new,grown --symbols out/Release --junit junit.xml --markdown comment.md umdh/*.txt" }
    }
    features {
        feature {
            type = "xml-report-plugin"
            param("xmlReportParsing.reportType", "junit")
            param("xmlReportParsing.reportDirs", "junit.xml")
        }
    }
})
